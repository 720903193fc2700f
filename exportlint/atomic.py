"""Writing a file so that at no time it is half written."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from exportlint.interrupts import uninterrupted
from exportlint.source import SourceError


def replace(path: Path, data: bytes) -> None:
    """Make `data` the content of the existing file `path`; its permissions stay, and so does a link to it.

    Raises:
        SourceError: it cannot be written. It is as it was then.
    """
    try:
        _replace(path, data)
    except OSError as error:
        raise SourceError(str(path), f"cannot be written: {error.strerror or error}") from None


def write(path: Path, data: bytes) -> None:
    """Make `data` the content of `path`, whether there is such a file or not. Only a device or a pipe gets it in parts.

    Raises:
        OSError: it cannot be written. It is as it was then.
    """
    if path.is_file():
        _replace(path, data)
    elif path.exists():
        path.write_bytes(data)
    else:
        mask = os.umask(0)
        os.umask(mask)
        _put(path, data, 0o666 & ~mask)


def _replace(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    mode = stat.S_IMODE(target.stat().st_mode)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    _put(target, data, mode)


def _put(target: Path, data: bytes, mode: int) -> None:
    with uninterrupted():
        _put_at_once(target, data, mode)


def _put_at_once(target: Path, data: bytes, mode: int) -> None:
    import tempfile

    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise
