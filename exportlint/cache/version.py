"""What results depend on besides files and settings: exportlint itself, its libraries, and Python."""

from __future__ import annotations

import functools
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from exportlint import __version__, entry_points
from exportlint.syntax.inputs import fingerprint

FORMAT = 1
"""Changes whenever the files of the cache are written in another way."""


@functools.cache
def version() -> str:
    """The name of what makes results: equal for equal code."""
    package = Path(__file__).parents[1]
    parts = [str(FORMAT), __version__, sys.version, sys.platform, _stamp(_library("libcst"))]
    parts += map(str, entry_points.packages())
    for module in entry_points.modules():  # one that is being written changes, and its version does not
        parts += _of_plugin(module)
    if not (package / "catalogue").is_dir():  # a checkout, in which the code changes and the version does not
        parts += _sources(package)
    return f"{__version__}-{fingerprint(chr(10).join(parts).encode())[:16]}"


def _sources(package: Path) -> list[str]:
    folders = [folder for folder, _, _ in os.walk(package) if not folder.endswith("__pycache__")]
    files = (entry for folder in sorted(folders) for entry in os.scandir(folder) if entry.is_file())
    return sorted(f"{entry.path} {_stamp(entry.path)}" for entry in files)


def _of_plugin(name: str) -> list[str]:
    spec = PathFinder.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        return [_stamp(_library(name))]
    return [part for folder in spec.submodule_search_locations for part in _sources(Path(folder))]


def _library(name: str) -> str:
    spec = PathFinder.find_spec(name)
    return "" if spec is None or spec.origin is None else spec.origin


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116 - hundreds of files of a checkout
    except OSError:
        return ""
    return f"{path} {status.st_mtime_ns} {status.st_size}"
