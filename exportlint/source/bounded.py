"""Reading files that strangers name or put somewhere: neither pipes and devices nor what is too large."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_bounded(path: Path, most: int) -> bytes:
    """What a regular file of at most `most` bytes holds. It waits for nothing, and reads no more than that.

    Raises:
        OSError: it cannot be read, is not such a file, or is larger.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes")
    return data
