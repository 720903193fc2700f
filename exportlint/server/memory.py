"""Memory that nothing uses any more."""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
from collections.abc import Callable


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
