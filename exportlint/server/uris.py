"""URIs of documents as paths, and back."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote, urlsplit


def to_path(uri: str) -> Path | None:
    """The path of a `file:` URI, links in it left alone; None for any other, such as `untitled:`.

    Editors write Windows drives as `c:`, `C:` and `c%3A`; the drive is made upper case.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    if path[:1] == "/" and path[2:3] == ":" and path[1].isalpha():
        path = f"{path[1].upper()}{path[2:]}"
    elif parts.netloc and parts.netloc != "localhost":
        path = f"//{parts.netloc}{path}"
    if not path or "\0" in path:
        return None
    try:
        os.fsencode(path)
    except UnicodeError:  # half of a surrogate pair, which no name of a file holds
        return None
    return Path(os.path.normpath(path))


def same(uri: str) -> str:
    """A URI in the one form that all spellings of it share."""
    path = to_path(uri)
    if path is None:
        return uri
    cell = urlsplit(uri).fragment
    return f"{path.as_posix()}#{cell}" if cell else path.as_posix()


def from_path(path: Path) -> str:
    """The `file:` URI of an absolute path, also of one of Windows."""
    return (path if path.is_absolute() else PureWindowsPath(path)).as_uri()
