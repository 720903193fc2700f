"""Writes what was fixed."""

from __future__ import annotations

from exportlint import atomic
from exportlint.fixer.project import Fixed
from exportlint.source import SourceError


def write(fixed: Fixed) -> None:
    """Replace a file by what fixing made of it, as a whole. Its permissions stay, and so does a link to it.

    Raises:
        SourceError: it cannot be written, or it holds something else than what was fixed. It is as it was then.
    """
    path = fixed.task.path
    try:
        current = path.read_bytes()
    except OSError as error:
        raise SourceError(fixed.task.filename, f"cannot be read: {error.strerror or error}") from None
    if current != fixed.before:
        raise SourceError(fixed.task.filename, "was changed by someone else while it was fixed: it is left as it is")
    atomic.replace(path, fixed.data)
