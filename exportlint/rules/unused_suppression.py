"""EXP002 unused-suppression: a suppression that suppresses nothing; found where suppressions are applied."""

from __future__ import annotations

from exportlint.registry import rule


@rule("EXP002", "unused-suppression")
def unused_suppression() -> tuple[()]:
    """A suppression that suppresses nothing; found where suppressions are applied."""
    return ()
