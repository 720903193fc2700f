"""From paths and bytes to text, rows and columns: what the rest of exportlint knows of files."""

from exportlint.source.comments import Comment, comments
from exportlint.source.discovery import (
    DEFAULT_EXCLUDE,
    DEFAULT_INCLUDE,
    Discovery,
    DiscoveryOptions,
    discover,
    is_excluded,
)
from exportlint.source.encodings import ClientPosition, PositionEncoding, from_client, to_client
from exportlint.source.errors import SourceError, SyntaxProblem
from exportlint.source.file import Place, SourceFile, from_bytes, from_text, is_notebook, read, replaced
from exportlint.source.lines import LineIndex
from exportlint.source.parsing import gc_paused, parse
from exportlint.source.patterns import PathPatterns

__all__ = [
    "DEFAULT_EXCLUDE",
    "DEFAULT_INCLUDE",
    "ClientPosition",
    "Comment",
    "Discovery",
    "DiscoveryOptions",
    "LineIndex",
    "PathPatterns",
    "Place",
    "PositionEncoding",
    "SourceError",
    "SourceFile",
    "SyntaxProblem",
    "comments",
    "discover",
    "from_bytes",
    "from_client",
    "from_text",
    "gc_paused",
    "is_excluded",
    "is_notebook",
    "parse",
    "read",
    "replaced",
    "to_client",
]
