"""EXP001 syntax-error: a file that Python cannot parse; the linter reports it where parsing fails."""

from __future__ import annotations

from exportlint.registry import rule


@rule("EXP001", "syntax-error")
def syntax_error() -> tuple[()]:
    """A file that Python cannot parse; the linter reports it where parsing fails."""
    return ()
