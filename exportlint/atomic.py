"""Replacing a file so that at no time it is half written."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from exportlint.source import SourceError


def replace(path: Path, data: bytes) -> None:
    """Make `data` the content of the existing file `path`; its permissions stay, and so does a link to it.

    Raises:
        SourceError: it cannot be written. It is as it was then.
    """
    import tempfile

    target = Path(os.path.realpath(path))
    temporary = None
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
        if not os.access(target, os.W_OK):
            raise PermissionError("the file is read-only")
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise SourceError(str(path), f"cannot be written: {error.strerror or error}") from None
