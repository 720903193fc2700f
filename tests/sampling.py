"""Which cases of a table every run tries, and which only the thorough one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import pytest

_T = TypeVar("_T")


def first_of_each(cases: Iterable[_T], group: Callable[[_T], Hashable]) -> list[Any]:
    """The cases as parameters of a test: the first of each group for every run, the others marked `thorough`."""
    seen: set[Hashable] = set()
    parameters = []
    for case in cases:
        key = group(case)
        values = case if isinstance(case, tuple) else (case,)
        parameters.append(pytest.param(*values, marks=pytest.mark.thorough if key in seen else ()))
        seen.add(key)
    return parameters
