"""The files of the project that code writes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MOST = 100


@contextlib.contextmanager
def files_written(root: str) -> Iterator[list[str]]:
    """The files below `root` that are opened to be written to meanwhile, by their paths from there.

    What code does not open in Python is not among them.
    """
    found: list[str] = []
    above = os.path.join(os.path.realpath(root), "")
    is_watching = True

    def hook(event: str, arguments: Any) -> None:
        if event != "open" or not is_watching or len(found) >= _MOST:
            return
        with contextlib.suppress(OSError, TypeError, ValueError):
            path, mode, flags = arguments
            is_written = bool(set(mode) & set("wax+")) if isinstance(mode, str) else bool(flags & _WRITING)
            place = os.path.realpath(os.fsdecode(os.fspath(path))) if is_written else ""
            if place.startswith(above) and "__pycache__" not in place and place[len(above) :] not in found:
                found.append(place[len(above) :])

    sys.addaudithook(hook)
    try:
        yield found
    finally:
        is_watching = False
