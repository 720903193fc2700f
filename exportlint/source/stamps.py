"""What tells that a file is the one that was read before, without reading it again."""

from __future__ import annotations

import os
import time

_TICKS = 2_000_000_000
"""Nanoseconds within which a file system may give two changes of a file the same time."""


def stamp(path: str) -> str:
    """What changes whenever a file does: its times, size and place on the disk. Empty where there is no such file.

    It is to be taken before the file is read.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - thousands of them are taken
    except (OSError, ValueError):
        return ""
    return f"{status.st_mtime_ns}.{status.st_ctime_ns}.{status.st_size}.{status.st_ino}"


def settled(taken: str) -> str:
    """A stamp that was taken just now, or nothing if the file may change once more without that it does."""
    times = taken.split(".")[:2]
    return taken if taken and max(map(int, times)) < time.time_ns() - _TICKS else ""
