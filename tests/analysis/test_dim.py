"""Laws of the lattices of sizes and shapes, and soundness: what the algebra says is true of every value."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exportlint.analysis.domain import dim as dims
from exportlint.analysis.domain.dim import (
    ANY_NUMBER,
    ANY_SIZE,
    FIXED,
    MAX_SOURCES,
    Approximation,
    Dim,
    compare,
    constant,
    join,
    leq,
    symbol,
    unbacked,
    widen,
)
from exportlint.analysis.domain.shape import SCALAR, UNSHAPED, TensorShape, broadcast

N, M, K = symbol("n"), symbol("m", 3, 9), symbol("k", 4)
U = unbacked("u")
BOUNDS = {"n": (2, 40), "m": (3, 9), "k": (4, 40), "u": (0, 40)}
LEAVES = {"n": N, "m": M, "k": K, "u": U}
OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "min": min, "max": max,
}  # fmt: skip
ON_DIMS: Mapping[str, Callable[[Dim, Dim], Dim]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "min": dims.minimum, "max": dims.maximum,
}  # fmt: skip
COMPARISONS: Mapping[dims.Operator, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

Formula = str | int | tuple[str, "Formula", "Formula"]
"""A name, a number, or an operator and its operands."""
FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    st.sampled_from(sorted(LEAVES)) | st.integers(-5, 8),
    lambda inner: st.tuples(st.sampled_from(sorted(OPERATORS)), inner, inner),
    max_leaves=8,
)
ASSIGNMENTS = st.fixed_dictionaries({name: st.integers(*bounds) for name, bounds in BOUNDS.items()})


def as_dim(formula: Formula) -> Dim:
    """What the algebra makes of a formula."""
    match formula:
        case str():
            return LEAVES[formula]
        case int():
            return constant(formula)
        case (sign, left, right):
            return ON_DIMS[sign](as_dim(left), as_dim(right))
    raise AssertionError


def value(formula: Formula, assignment: Mapping[str, int]) -> int:
    """What Python makes of it. Raises ZeroDivisionError."""
    match formula:
        case str():
            return assignment[formula]
        case int():
            return formula
        case (sign, left, right):
            return OPERATORS[sign](value(left, assignment), value(right, assignment))
    raise AssertionError


def evaluated(dim: dims.Expression, assignment: Mapping[str, int]) -> int:
    """The value of an exact expression."""
    total = dim.constant
    for monomial, coefficient in dim.terms:
        part = coefficient
        for atom in monomial:
            if isinstance(atom, (dims.Quotient, dims.Remainder)):
                operands = evaluated(atom.dividend, assignment), evaluated(atom.divisor, assignment)
                part *= operator.floordiv(*operands) if isinstance(atom, dims.Quotient) else operator.mod(*operands)
            else:
                part *= assignment[atom.name]
        total += part
    return total


EXACT = FORMULAS.map(as_dim)
SOURCES = st.none() | st.frozensets(st.sampled_from([dims.Symbol("n"), dims.Symbol("m", 3, 9), dims.Unbacked("u")]))
LOW = st.sampled_from([float("-inf"), -3, 0, 1, 2])
APPROXIMATE = st.builds(
    Approximation, LOW, st.sampled_from([2, 7, float("inf")]), SOURCES, st.booleans(), st.booleans(), st.booleans()
)
DIMS = EXACT | APPROXIMATE | st.sampled_from([ANY_NUMBER, ANY_SIZE, FIXED])
SHAPES = st.builds(TensorShape, st.lists(DIMS, max_size=3).map(tuple), st.none() | st.integers(0, 3))


@dataclass(frozen=True)
class Lattice:
    """The operations of a lattice, to hold its laws against."""

    leq: Callable[..., bool]
    join: Callable[..., Any]
    widen: Callable[..., Any]


LATTICES = {
    "sizes": (Lattice(leq, join, widen), DIMS),
    "shapes": (Lattice(TensorShape.leq, TensorShape.join, TensorShape.widen), SHAPES),
}


@pytest.mark.parametrize("kind", LATTICES)
@given(data=st.data())
def test_join_is_the_least_upper_bound_of_a_partial_order(kind: str, data: st.DataObject) -> None:
    lattice, elements = LATTICES[kind]
    one, other, third = (data.draw(elements) for _ in range(3))
    both = lattice.join(one, other)
    assert lattice.leq(one, one)
    assert lattice.leq(one, both)
    assert lattice.leq(other, both)
    assert lattice.join(one, one) == one
    assert both == lattice.join(other, one)
    assert lattice.join(both, third) == lattice.join(one, lattice.join(other, third))
    assert lattice.leq(one, other) == (both == other)
    if lattice.leq(one, third) and lattice.leq(other, third):
        assert lattice.leq(both, third)
    if lattice.leq(one, other) and lattice.leq(other, one):
        assert one == other


@pytest.mark.parametrize("kind", LATTICES)
@settings(max_examples=30)
@given(data=st.data())
def test_widening_is_an_upper_bound_and_ends(kind: str, data: st.DataObject) -> None:
    lattice, elements = LATTICES[kind]
    found: Any = data.draw(elements)
    changes = 0
    for new in data.draw(st.lists(elements, min_size=20, max_size=40)):
        wider = lattice.widen(found, new)
        assert lattice.leq(found, wider)
        assert lattice.leq(new, wider)
        changes += wider != found
        found = wider
    # an expression, two bounds, the sources one by one, three flags: for each of three dimensions, and the rank
    assert changes <= 3 * (1 + 2 + MAX_SOURCES + 1 + 3) + 1


def test_widening_a_counter_ends() -> None:
    found: Dim = constant(0)
    for _ in range(4):
        found = widen(found, join(found, found + 1))
    assert found == widen(found, found + 1)
    assert found.within() == (0, float("inf"))


@given(FORMULAS, ASSIGNMENTS)
def test_every_value_is_what_the_algebra_says(formula: Formula, assignment: dict[str, int]) -> None:
    try:
        number = value(formula, assignment)
    except ZeroDivisionError:
        return
    found = as_dim(formula)
    low, high = found.within()
    assert low <= number <= high
    if isinstance(found, dims.Expression):
        assert evaluated(found, assignment) == number
    if found.number is not None:
        assert found.number == number


@given(FORMULAS, FORMULAS, ASSIGNMENTS, st.sampled_from(sorted(COMPARISONS)))
def test_what_is_surely_true_is_true_of_every_value(
    left: Formula, right: Formula, assignment: dict[str, int], sign: dims.Operator
) -> None:
    try:
        truth = COMPARISONS[sign](value(left, assignment), value(right, assignment))
    except ZeroDivisionError:
        return
    found = compare(sign, as_dim(left), as_dim(right))
    if isinstance(found, bool):
        assert found is truth


@given(FORMULAS, FORMULAS, ASSIGNMENTS, st.floats(-4, 4))
def test_floats_are_between_the_bounds(left: Formula, right: Formula, assignment: dict[str, int], by: float) -> None:
    try:
        one, other = value(left, assignment), value(right, assignment)
        quotient = one / other
    except ZeroDivisionError:
        return
    low, high = dims.true_divide(as_dim(left), as_dim(right)).within()
    assert low <= quotient <= high
    low, high = dims.scaled(as_dim(left), by).within()
    assert low <= one * by <= high


@given(DIMS)
def test_an_approximation_tells_nothing_more(dim: Dim) -> None:
    assert leq(dim, dims.approximated(dim))


@given(DIMS, SHAPES)
def test_a_size_is_the_same_in_another_process(dim: Dim, shape: TensorShape) -> None:
    assert pickle.loads(pickle.dumps((dim, shape))) == (dim, shape)


EQUAL = {
    "n + 0": (N + 0, N),
    "n * 1": (N * 1, N),
    "2*n // 2": (N * 2 // 2, N),
    "n % 1": (N % 1, constant(0)),
    "n - n": (N - N, constant(0)),
    "n + n": (N + N, N * 2),
    "n + m": (N + M, M + N),
    "n // n": (N // N, constant(1)),
    "2*n % 2": (N * 2 % 2, constant(0)),
    "n*m // m": (N * M // M, N),
    "(4*n + 3) // 2": ((N * 4 + 3) // 2, N * 2 + 1),
    "n // 2 // 3": (N // 2 // 3, N // 6),
    "(n + 1) * (n - 1)": ((N + 1) * (N - 1), N * N - 1),
    "n % 4 % 2": (N % 4 % 2, N % 2),
    "m % 10": (M % 10, M),
    "m // 10": (M // 10, constant(0)),
    "-n // -2": ((-N) // constant(-2), N // 2),
}


@pytest.mark.parametrize(("found", "expected"), EQUAL.values(), ids=list(EQUAL))
def test_normal_forms(found: Dim, expected: Dim) -> None:
    assert found == expected
    assert hash(found) == hash(expected)


UNKNOWN_FACTOR = N * FIXED
COMPARED: Mapping[str, tuple[dims.Operator, Dim, Dim, object]] = {
    "n == 1": ("==", N, constant(1), "one"),
    "n > 1": (">", N, constant(1), "one"),
    "n - 1 > 0": (">", N - 1, constant(0), "one"),
    "n // 2 == 0": ("==", N // 2, constant(0), "one"),
    "k == 1, k at least 4": ("==", K, constant(1), False),
    "n > 0": (">", N, constant(0), True),
    "n == 0": ("==", N, constant(0), False),
    "n == 3": ("==", N, constant(3), "constant"),
    "n // 2 == 3": ("==", N // 2, constant(3), "constant"),
    "n > 3": (">", N, constant(3), "order"),
    "m < 10, m at most 9": ("<", M, constant(10), True),
    "n % 2 == 0": ("==", N % 2, constant(0), "order"),
    "2*n == 3": ("==", N * 2, constant(3), False),
    "2*n % 2 == 0": ("==", N * 2 % 2, constant(0), True),
    "n == k": ("==", N, K, "order"),
    "n + 1 > n": (">", N + 1, N, True),
    "n * unknown > 0": (">", UNKNOWN_FACTOR, constant(0), True),
    "n % unknown == 0": ("==", N % FIXED, constant(0), "order"),
    "n == n * unknown": ("==", N, UNKNOWN_FACTOR, None),
    "unknown == 3": ("==", ANY_SIZE, constant(3), None),
    "n // 2 < n": ("<", N // 2, N, True),
    "n // 4 * 4 <= n": ("<=", N // 4 * 4, N, True),
    "n - n // 3 * 2 > 0": (">", N - N // 3 * 2, constant(0), True),
    "u == u": ("==", U, U, True),
    "u == 3": ("==", U, constant(3), None),
}


@pytest.mark.parametrize(("sign", "left", "right", "expected"), COMPARED.values(), ids=list(COMPARED))
def test_comparisons(sign: dims.Operator, left: Dim, right: Dim, expected: object) -> None:
    assert compare(sign, left, right) == expected


def test_a_join_keeps_that_it_can_vary_and_surely_varies_only_if_both_do() -> None:
    maybe = join(N, constant(3))
    assert maybe.sources == N.sources
    assert not maybe.varies
    assert join(N, N + 1).varies
    assert join(U, U + 1).is_data
    assert not join(U, N).is_data


def test_large_expressions_become_approximations() -> None:
    found: Dim = N
    for _ in range(100):
        found = found * found + M
    assert isinstance(found, Approximation)
    assert found.varies


BROADCASTS = {
    "same": (TensorShape((N, M)), TensorShape((N, M)), TensorShape((N, M))),
    "unknown": (TensorShape((N,)), UNSHAPED, TensorShape((N,))),
    "number": (TensorShape((N, M), 2), SCALAR, TensorShape((N, M), 2)),
    "from the back": (TensorShape((N, M), 2), TensorShape((M,), 1), TensorShape((N, M), 2)),
    "ones give way": (TensorShape((constant(1), M), 2), TensorShape((N, M), 2), TensorShape((N, M), 2)),
    "one more in front": (TensorShape((N,), 1), TensorShape((M, constant(1)), 2), TensorShape((M, N), 2)),
}


@pytest.mark.parametrize(("one", "other", "expected"), BROADCASTS.values(), ids=list(BROADCASTS))
def test_broadcasting(one: TensorShape, other: TensorShape, expected: TensorShape) -> None:
    assert broadcast(one, other) == expected
    assert broadcast(other, one) == expected
