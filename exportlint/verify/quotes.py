"""Whether a failure is the one that the page of a rule quotes: for those where torch does not say where they are."""

from __future__ import annotations

import functools
import re

from exportlint.registry import find_rule, page
from exportlint.verify.results import Failure

_VARYING = re.compile(r"'[^']*'|\d+")
_ENOUGH = 40
"""So many characters tell one message of torch from the others."""


def quotes(code: str, failure: Failure) -> bool:
    """Whether the page of a rule has what torch says, but for names and numbers."""
    said = _plain(f"{failure.type}: {failure.message}")[:_ENOUGH].rstrip()
    return said in _page(code)


@functools.cache
def _page(code: str) -> str:
    rule = find_rule(code)
    try:
        return "" if rule is None else _plain(page(rule))
    except FileNotFoundError:
        return ""


def _plain(text: str) -> str:
    return " ".join(_VARYING.sub("", text).split())
