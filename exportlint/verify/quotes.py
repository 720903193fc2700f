"""Whether a failure is the one that the page of a rule quotes: for those where torch does not say where they are."""

from __future__ import annotations

from exportlint.messages import is_quoted
from exportlint.verify.results import Failure


def quotes(code: str, failure: Failure) -> bool:
    """Whether the page of a rule has what torch says, but for names and numbers."""
    return is_quoted(code, failure.type, failure.message)
