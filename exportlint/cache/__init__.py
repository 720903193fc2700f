"""Results on the disk: what looking at files gave, for as long as nothing that it depends on changes.

Nothing here may be needed: a cache that is damaged, of another version, of somebody else, or that cannot be written is
as good as none.
"""

from __future__ import annotations

from exportlint.cache.directory import CacheDirectory, CacheError, clean, is_cache, named_directory
from exportlint.cache.results import ResultCache
from exportlint.cache.version import version

__all__ = [
    "CacheDirectory",
    "CacheError",
    "ResultCache",
    "clean",
    "is_cache",
    "named_directory",
    "version",
]
