"""The files of the project that a model deletes."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

_EVENTS = frozenset(("os.remove", "os.rename", "os.rmdir", "shutil.rmtree"))
_STARTS = frozenset(("os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"))
_MOST = 100
_MOST_KNOWN = 10_000


def watch_deletions(root: str, tell: Callable[[str], None]) -> Callable[[], None]:
    """Have it told from now on, as long as the process lives, which files below `root` are deleted or moved away.

    What is younger than this call is not the project's, but was made meanwhile. Call what is returned at the end: it
    tells which of the files are gone that were there when the first process was started, whose calls nobody sees.
    """
    start = time.time()
    told: set[str] = set()
    known: list[str] = []
    above = os.path.join(os.path.realpath(root), "")

    def gone(place: str) -> None:
        if len(told) < _MOST and not any(place == other or place.startswith(os.path.join(other, "")) for other in told):
            told.add(place)
            tell(place)

    def hook(event: str, arguments: Any) -> None:
        if event in _STARTS and not known:
            known.append(above)  # so that it is looked at once
            known.extend(itertools.islice(_files(above, start), _MOST_KNOWN))
        if event not in _EVENTS:
            return
        with contextlib.suppress(OSError, TypeError, ValueError):
            given = os.fspath(arguments[0])
            path = os.fsdecode(given)
            place = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
            if place.startswith(above) and "__pycache__" not in place and os.lstat(place).st_mtime < start:
                gone(place)

    def look_again() -> None:
        for place in known:
            if not os.path.lexists(place):
                gone(place)

    sys.addaudithook(hook)
    return look_again


def _files(above: str, start: float) -> Iterator[str]:
    """The files of the project, in the order of their directories; not those of environments and repositories."""
    for directory, directories, files in os.walk(above):
        hidden = {name for name in directories if name.startswith((".", "__pycache__"))}
        directories[:] = sorted(set(directories) - hidden - {"site-packages", "node_modules"})
        for name in files:
            place = os.path.join(directory, name)
            with contextlib.suppress(OSError):
                if os.lstat(place).st_mtime < start:
                    yield place
