"""EXP005 invalid-suppression: a suppression that cannot work; found where suppressions are read."""

from __future__ import annotations

from exportlint.registry import rule


@rule("EXP005", "invalid-suppression")
def invalid_suppression() -> tuple[()]:
    """A suppression that cannot work; found where suppressions are read."""
    return ()
