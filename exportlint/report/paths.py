"""File names for programs: with slashes, seen from the folder that these programs start from, whatever the system."""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import quote


def portable(filename: str, root: PurePath) -> str:
    """A file name relative to `root` if it lies below it, with slashes; of other files the whole name."""
    path = type(root)(filename)
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def uri(filename: str, root: PurePath) -> tuple[str, bool]:
    """A file name as a URI, and whether that is relative to `root`."""
    path = type(root)(filename)
    if path.is_relative_to(root):
        return quoted(path.relative_to(root).as_posix()), True
    if not path.is_absolute():
        return quoted(path.as_posix()), True
    return folder_uri(path.parent) + quoted(path.name), False


def folder_uri(folder: PurePath) -> str:
    """The absolute URI of a folder, which ends with a slash."""
    slash = "" if folder.as_posix().startswith("/") else "/"
    return f"file://{slash}{quote(_data(folder.as_posix().rstrip('/')), safe='/:')}/"


def quoted(name: str) -> str:
    """A name with slashes as a relative URI. It may be one that is not UTF-8."""
    return quote(_data(name))


def _data(name: str) -> bytes:
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # what only an editor or a notebook can call a file
        return name.encode("utf-8", "surrogatepass")
