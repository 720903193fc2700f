"""Writes what was fixed."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint import atomic
from exportlint.fixer.project import Fixed
from exportlint.interrupts import uninterrupted
from exportlint.source import SourceError


def write(fixed: Fixed) -> None:
    """Replace a file by what fixing made of it, as a whole. Its permissions stay, and so does a link to it.

    Raises:
        SourceError: it cannot be written, or it holds something other than what was fixed. It is as it was then.
    """
    _require_unchanged(fixed)
    atomic.replace(fixed.task.path, fixed.data)


def write_all(fixed: Sequence[Fixed]) -> None:
    """Replace files that belong together: all of them, with Ctrl-C put off until then, or none.

    Raises:
        SourceError: one of them holds something other than what was fixed, or cannot be written. All are as they were.
    """
    for one in fixed:
        _require_unchanged(one)
    done: list[Fixed] = []
    with uninterrupted():
        for one in fixed:
            try:
                atomic.replace(one.task.path, one.data)
            except SourceError:
                for written in done:
                    atomic.replace(written.task.path, written.before)
                raise
            done.append(one)


def _require_unchanged(fixed: Fixed) -> None:
    try:
        current = fixed.task.path.read_bytes()
    except OSError as error:
        raise SourceError(fixed.task.filename, f"cannot be read: {error.strerror or error}") from None
    if current != fixed.before:
        raise SourceError(fixed.task.filename, "changed on disk while it was being fixed; exportlint left it alone")
