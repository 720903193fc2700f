"""Several rewrites for one finding, the best first.

`first_of` tries them in order and keeps the reason of the first that declines; `declined` stands for no rewrite at
all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError, InapplicableError

F = TypeVar("F", bound=Fact)


def first_of(code: Code, fact: F, *ways: Callable[[Code, F], Fix]) -> Fix:
    """The fix of the first way that does not decline.

    Raises:
        DeclinedError: all decline. The reason is that of the first way that the code has the form for.
    """
    first, *others = ways
    if not others:
        return first(code.anew(), fact)
    try:
        return first(code.anew(), fact)
    except InapplicableError:
        return first_of(code, fact, *others)
    except DeclinedError as reason:
        try:
            return first_of(code, fact, *others)
        except DeclinedError:
            raise reason from None


def declined(reason: str) -> Callable[[Code], Fix]:
    """What a rule gives as its fix where no rewrite of the code can help: the report says why."""

    def fix(_: Code) -> Fix:
        raise DeclinedError(reason)

    return fix
