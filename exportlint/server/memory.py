"""How much memory the server takes, and giving back what nothing uses any more."""

from __future__ import annotations

import ctypes
import functools
import gc
import mmap
import sys
from collections.abc import Callable
from pathlib import Path

MAX_RESIDENT = 250_000_000
"""More memory than this, in bytes, the server does not keep when it begins with a document."""

LEAST_DOCUMENTS = 3
"""It begins with so many before it gives back everything again: files that they share are then parsed anew."""


def resident() -> int:
    """The memory that this process takes, in bytes; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return 0


def collect(*, frozen: bool) -> None:
    """Collect garbage, perhaps also what was `frozen`, freeze the rest, and have the C library return what is free.

    After a big file, glibc would keep some 25 MB of it for later.
    """
    if frozen:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    _trim()(0)


@functools.cache
def _trim() -> Callable[[int], object]:
    """What returns free memory: nothing where the C library has no such function."""
    try:
        return ctypes.CDLL(None).malloc_trim if sys.platform == "linux" else bool
    except (OSError, AttributeError):
        return bool
