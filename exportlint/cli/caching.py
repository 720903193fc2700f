"""`--no-cache`, `--cache-dir` and what sets it: where the results of a run are kept."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from exportlint.cache import CacheDirectory, ResultCache, named_directory, version
from exportlint.cli.output import UsageError, warn
from exportlint.config import Settings


def directory_of(arguments: argparse.Namespace, settings: Settings, cwd: Path) -> tuple[Path, bool]:
    """The directory of the cache, and whether it is the user who names it, and not a file of the project.

    Raises:
        UsageError: the name is empty.
    """
    if arguments.cache_dir is not None:
        if not arguments.cache_dir:
            raise UsageError("--cache-dir: expected a directory; `--no-cache` turns the cache off")
        return Path(os.path.normpath(cwd / arguments.cache_dir)), True
    named = named_directory(cwd)
    return (settings.cache_dir, False) if named is None else (named, True)


def cache_of(
    arguments: argparse.Namespace, settings: Settings, cwd: Path, unsaved: Mapping[Path, bytes]
) -> ResultCache | None:
    """The results of earlier runs, unless they are not wanted. Raises UsageError."""
    if arguments.no_cache:
        return None
    path, is_own = directory_of(arguments, settings, cwd)
    return ResultCache(CacheDirectory(path, version(), is_own=is_own), unsaved)


def save(cache: ResultCache, *, verbose: bool) -> None:
    """Keep results for the next run, as far as that is possible."""
    cache.save()
    for problem in cache.problems if verbose else ():
        warn(f"results are not kept for the next run: {problem}")
