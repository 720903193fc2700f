"""The files of the project that a model deletes."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

_EVENTS = frozenset(("os.remove", "os.rmdir", "shutil.rmtree"))
_MOST = 100


def watch_deletions(root: str, tell: Callable[[str], None]) -> None:
    """Have it told from now on, as long as the process lives, which files below `root` are deleted.

    What is younger than this call is not the project's, but was made meanwhile.
    """
    start, told = time.time(), 0
    above = os.path.join(os.path.realpath(root), "")

    def hook(event: str, arguments: Any) -> None:
        nonlocal told
        if event not in _EVENTS or told >= _MOST:
            return
        with contextlib.suppress(OSError, TypeError, ValueError):
            given = os.fspath(arguments[0])
            path = os.fsdecode(given)
            place = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
            if place.startswith(above) and "__pycache__" not in place and os.lstat(place).st_mtime < start:
                told += 1
                tell(place)

    sys.addaudithook(hook)
