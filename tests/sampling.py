"""Which cases of a table every run tries, and which only the thorough one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import product
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


def each_value(*axes: Sequence[object]) -> list[Any]:
    """All combinations as parameters of a test: each value is in one of those that every run tries.

    The others are marked `thorough`.
    """
    sample = {tuple(i % len(axis) for axis in axes) for i in range(max(map(len, axes)))}
    return [
        pytest.param(
            *(axis[i] for axis, i in zip(axes, at, strict=True)), marks=() if at in sample else pytest.mark.thorough
        )
        for at in product(*(range(len(axis)) for axis in axes))
    ]


def one_in(count: int, cases: Iterable[_T]) -> list[Any]:
    """The cases as parameters of a test: each `count`-th for every run, the others marked `thorough`."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough if i % count else ())
        for i, case in enumerate(cases)
    ]
