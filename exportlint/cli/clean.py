"""`exportlint clean`: remove the results of earlier runs, and end the workers that wait for the next one."""

from __future__ import annotations

import argparse
from pathlib import Path

from exportlint.cache import CacheError, clean
from exportlint.cli.caching import directory_of
from exportlint.cli.output import UsageError, write
from exportlint.cli.overrides import configuration
from exportlint.report.context import printable
from exportlint.verify.warm import default_directory, stop


def run(arguments: argparse.Namespace) -> int:
    """Remove the cache of the working directory.

    Raises:
        UsageError: it cannot be removed, or is none.
    """
    cwd = Path.cwd()
    path, _ = directory_of(arguments, configuration(arguments, cwd).for_directory(cwd), cwd)
    try:
        was_there = clean(path)
    except CacheError as error:
        raise UsageError(str(error)) from None
    workers = default_directory()
    if workers is not None and (count := stop(workers)):
        write(f"Stopped {count} waiting worker{'' if count == 1 else 's'}\n")
    if was_there:
        write(f"Removed {printable(str(path))}\n")
    return 0
