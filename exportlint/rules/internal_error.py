"""EXP004 internal-error: a failure of exportlint itself; the linter reports it for the file that it happened in."""

from __future__ import annotations

from exportlint.registry import rule


@rule("EXP004", "internal-error")
def internal_error() -> tuple[()]:
    """A failure of exportlint itself; the linter reports it for the file that it happened in."""
    return ()
