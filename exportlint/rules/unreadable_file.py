"""EXP003 unreadable-file: a file that cannot be read or decoded; the linter reports it where reading fails."""

from __future__ import annotations

from exportlint.registry import rule


@rule("EXP003", "unreadable-file")
def unreadable_file() -> tuple[()]:
    """A file that cannot be read or decoded; the linter reports it where reading fails."""
    return ()
