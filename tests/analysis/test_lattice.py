"""Laws of the lattice of values, variables and heaps: joins are upper bounds, chains end, and no claim is added."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from exportlint.analysis.domain.dim import ONE, constant, symbol, unbacked
from exportlint.analysis.domain.heap import (
    EMPTY,
    HEAP,
    MANY,
    MAX_IDENTITY,
    Allocation,
    Cell,
    Heap,
    is_written_in,
    join_heaps,
)
from exportlint.analysis.domain.lattice import (
    MAX_OPTIONS,
    heap_of,
    join,
    join_environments,
    leq,
    merged,
    options,
    tensors_in,
    widen,
    widen_environments,
)
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    Const,
    Dict,
    External,
    Origin,
    Python,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.demands import data_of

KINDS = st.sampled_from([None, "int", "float"])
CONSTANTS = st.sampled_from([None, True, False, 1, 3, "a"]).map(Const)
SHAPES = st.sampled_from(
    [
        TensorShape(),
        TensorShape((), 0),
        TensorShape((symbol("n"),), 1),
        TensorShape((unbacked("u"),), 1),
        TensorShape((symbol("n"), constant(3))),
    ]
)
TENSORS = st.builds(
    Tensor,
    st.sampled_from([Origin.INPUT, Origin.BUFFER, Origin.FRESH]),
    KINDS,
    SHAPES,
    known=st.booleans(),
    assumed=st.booleans(),
    optional=st.booleans(),
    depends_on_input=st.booleans(),
)
SCALARS = st.builds(
    Scalar,
    KINDS,
    st.sampled_from(["item", "size"]),
    st.booleans(),
    within=st.sampled_from([None, (0, math.inf), (0, 7), (1, 7)]),
)
SIZES = st.sampled_from([Size(symbol("n")), Size(symbol("n") + 1), Size(constant(3), "float")])
OTHERS = st.sampled_from([UNKNOWN, PYTHON, Python("int"), External("math.sqrt"), External("torch.relu")])
LEAVES = CONSTANTS | TENSORS | SCALARS | SIZES | OTHERS


def _containers(parts: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    tuples = st.builds(Tuple, st.lists(parts, max_size=3).map(tuple), st.booleans())
    sequences = st.builds(Sequence, parts, st.sampled_from(["list", "set"]))
    entries = st.dictionaries(st.sampled_from("ab"), parts, max_size=2).map(lambda d: tuple(d.items()))
    return tuples | sequences | st.builds(Dict, entries, st.none() | parts)


SINGLE = st.recursive(LEAVES, _containers, max_leaves=3)
VALUES = SINGLE | st.lists(SINGLE, min_size=1, max_size=6).map(join)
NAMES = st.sampled_from("abc")
ENVIRONMENTS = st.dictionaries(NAMES, VALUES, max_size=3)
FIRST = Const("first")
PHASES = [phase for phase in Phase if phase is not Phase.explain]  # which takes minutes, on values inside values


def _heap(held: dict[str, Value]) -> Heap:
    heap = EMPTY
    for name, value in held.items():
        heap = heap.set(Cell("owner", name), value, FIRST).marked(Cell("owner", name), None)
    return heap


HEAPS = ENVIRONMENTS.map(_heap)


@pytest.fixture(params=[25, pytest.param(500, marks=pytest.mark.thorough)], ids=["sample", "thorough"])
def examples(request: pytest.FixtureRequest) -> int:
    """How many examples a law is held against."""
    return int(request.param)


def hold(examples: int, law: Callable[..., None], *drawn: st.SearchStrategy[object]) -> None:
    """Hold a law against as many examples."""
    limits = settings(max_examples=examples, suppress_health_check=list(HealthCheck), phases=PHASES)
    limits(given(*drawn)(law))()


# --- the order -----------------------------------------------------------------------------------------------------


def test_the_order_is_reflexive(examples: int) -> None:
    def law(value: Value) -> None:
        assert leq(value, value)

    hold(examples, law, VALUES)


def _above(value: Value, others: list[Value]) -> Value:
    return join((value, *others))


def test_the_order_is_transitive(examples: int) -> None:
    def law(value: Value, more: list[Value], still_more: list[Value]) -> None:
        above = _above(value, more)
        over = merged(options(_above(above, still_more)))
        assert leq(value, above)
        assert leq(above, over)
        assert leq(value, over)

    def chosen(one: Value, other: Value, third: Value) -> None:
        if leq(one, other) and leq(other, third):
            assert leq(one, third)

    hold(examples, law, VALUES, st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3))
    hold(examples, chosen, VALUES, VALUES, VALUES)


def plain(value: Value) -> Value:
    """A value without alternatives that others include: beside what is unknown all are, in `leq`."""
    found = [_plain_parts(option) for option in options(value)]
    if UNKNOWN in found:
        return UNKNOWN
    kept: dict[Value, None] = {}
    for option in dict.fromkeys(found):
        if not any(other != option and leq(option, other) for other in found):
            kept[option] = None
    return join(kept)


def _plain_parts(value: Value) -> Value:
    match value:
        case Tuple():
            return Tuple(tuple(map(plain, value.items)), value.mutable, value.fields)
        case Sequence():
            return Sequence(plain(value.item), value.type)
        case Dict():
            entries = sorted(((key, plain(item)) for key, item in value.entries), key=lambda entry: str(entry[0]))
            return Dict(tuple(entries), None if value.rest is None else plain(value.rest))
    return value


def test_two_values_that_include_each_other_are_equal_without_what_is_redundant(examples: int) -> None:
    def law(one: Value, other: Value) -> None:
        for left, right in ((one, other), (join((one, other)), other), (one, merged(options(one)))):
            if leq(left, right) and leq(right, left):
                assert plain(left) == plain(right)

    hold(examples, law, VALUES, VALUES)


# --- joins ---------------------------------------------------------------------------------------------------------


def test_the_order_of_alternatives_does_not_count(examples: int) -> None:
    def law(values: list[Value]) -> None:
        assert join(values) == join(values[::-1])

    hold(examples, law, st.lists(VALUES, min_size=1, max_size=4))


def test_a_value_joined_with_itself_is_itself(examples: int) -> None:
    def law(value: Value) -> None:
        assert join((value, value)) == value

    hold(examples, law, VALUES)


def test_a_join_is_an_upper_bound(examples: int) -> None:
    def law(values: list[Value]) -> None:
        found = join(values)
        assert all(leq(value, found) for value in values)

    hold(examples, law, st.lists(VALUES, min_size=1, max_size=7))


def test_few_alternatives_may_be_joined_in_any_grouping(examples: int) -> None:
    def law(values: list[Value]) -> None:
        if len(dict.fromkeys(values)) <= MAX_OPTIONS:
            assert join(values) == reduce(lambda one, other: join((one, other)), values)

    hold(examples, law, st.lists(SINGLE, min_size=1, max_size=MAX_OPTIONS))


def test_many_alternatives_may_be_joined_one_by_one_in_any_order(examples: int) -> None:
    # what merging forgets depends on the order, for it begins where there are too many: the result never claims more
    def law(values: list[Value]) -> None:
        for order in (values, values[::-1]):
            one_by_one = reduce(lambda one, other: join((one, other)), order)
            assert all(leq(value, one_by_one) for value in values)

    hold(examples, law, st.lists(SINGLE, min_size=1, max_size=8))


def test_merging_twice_is_merging_once(examples: int) -> None:
    def law(values: list[Value]) -> None:
        found = merged(dict.fromkeys(values))
        assert merged(options(found)) == found
        assert all(leq(value, found) for value in values)

    hold(examples, law, st.lists(SINGLE, min_size=1, max_size=8))


def test_no_alternative_adds_a_claim(examples: int) -> None:
    def law(values: list[Value]) -> None:
        claimed = data_of(join(values))
        assert claimed is None or any(data_of(value) is not None for value in values)

    hold(examples, law, st.lists(VALUES, min_size=1, max_size=7))


# --- widening ------------------------------------------------------------------------------------------------------


def test_widening_is_an_upper_bound(examples: int) -> None:
    def law(before: Value, after: Value) -> None:
        found = widen(before, after)
        assert leq(before, found)
        assert leq(after, found)

    hold(examples, law, VALUES, VALUES)


def test_a_chain_that_is_widened_ends(examples: int) -> None:
    def law(values: list[Value]) -> None:
        found, steps = values[0], 0
        for value in (*values, *values):
            wider = widen(found, join((found, value)))
            steps += wider != found
            found = wider
        assert steps < 40
        assert all(widen(found, join((found, value))) == found for value in values)

    hold(examples // 3, law, st.lists(VALUES, min_size=20, max_size=30))


def _longer(value: Value) -> Value:
    """What `torch.cat([x, row])` gives."""
    return Tensor(shape=TensorShape((next((t.shape.at(0) + 1 for t in tensors_in(value)), ONE),), 1))


GROWING: dict[str, Callable[[Value], Value]] = {
    "a list in a list": lambda value: Tuple((value,), mutable=True),
    "a longer list": lambda value: Tuple((*options(value), NONE), mutable=True),
    "a deeper dict": lambda value: Dict((("a", value),)),
    "one key more": lambda value: value.updated(value.weight, NONE) if isinstance(value, Dict) else Dict(),
    "pairs": lambda value: Tuple((value, value)),
    "any sequence of it": Sequence,
    "a longer tensor": _longer,
    "a list of longer tensors": lambda value: Sequence(_longer(value)),
}


@pytest.mark.parametrize("growing", GROWING)
def test_what_a_loop_builds_up_ends(growing: str) -> None:
    found: Value = NONE
    for _ in range(40):
        found = widen(found, join((found, GROWING[growing](found))))
    assert widen(found, join((found, GROWING[growing](found)))) == found


def test_a_tensor_or_a_number_may_still_be_one_after_widening() -> None:
    found: Value = NONE
    for value in (Tensor(), Scalar("int"), PYTHON):
        found = widen(found, join((found, value)))
    assert {type(option) for option in options(found)} == {Const, Tensor, Scalar, Python}


# --- variables and heaps -------------------------------------------------------------------------------------------


def test_variables_hold_what_they_hold_on_either_way(examples: int) -> None:
    def law(one: dict[str, Value], other: dict[str, Value]) -> None:
        found = join_environments([one, other])
        assert found == join_environments([other, one])
        again = join_environments([found, other])
        assert found is not None
        assert again is not None
        assert all(leq(again[name], value) for name, value in found.items())
        for environment in (one, other):
            assert all(leq(value, found[name]) for name, value in environment.items())
        assert join_environments([one, None]) == one

    hold(examples, law, ENVIRONMENTS, ENVIRONMENTS)


def test_variables_that_are_widened_hold_what_either_way_holds(examples: int) -> None:
    def law(one: dict[str, Value], other: dict[str, Value], heap: Heap, later: Heap) -> None:
        before, after = {**one, HEAP: heap}, {**other, HEAP: later}
        found = widen_environments(before, after)
        assert found.keys() == before.keys() | after.keys()
        for environment in (one, other):
            assert all(leq(value, found[name]) for name, value in environment.items())
        _assert_heap_is_above([heap, later], heap_of(found))

    hold(examples, law, ENVIRONMENTS, ENVIRONMENTS, HEAPS, HEAPS)


def _assert_heap_is_above(heaps: Iterable[Heap], found: Heap) -> None:
    for heap in heaps:
        assert is_written_in(found.written, heap.written)
        for cell in found.changes:
            held = found.get(cell)
            assert held is not None
            assert leq(heap.get(cell) or FIRST, held)


def test_a_cell_that_one_way_leaves_alone_may_hold_what_it_held(examples: int) -> None:
    def law(one: Heap, other: Heap) -> None:
        found = join_heaps([(one, {}), (other, {})], join)
        assert found == join_heaps([(other, {}), (one, {})], join)
        _assert_heap_is_above([join_heaps([(found, {}), (other, {})], join)], found)
        assert found.changes.keys() == one.changes.keys() | other.changes.keys()
        assert found.written == {c: keys for c, keys in one.written.items() if c in other.written}
        _assert_heap_is_above([one, other], found)

    hold(examples, law, HEAPS, HEAPS)


def test_chains_of_variables_that_are_widened_end(examples: int) -> None:
    def law(passes: list[tuple[dict[str, Value], Heap]]) -> None:
        found: dict[str, Value] = {}
        steps = 0
        for variables, heap in (*passes, *passes):
            after = join_environments([found, {**variables, HEAP: heap}])
            assert after is not None
            wider = widen_environments(found, after)
            steps += wider != found
            found = wider
        assert steps < 100

    hold(examples // 3, law, st.lists(st.tuples(ENVIRONMENTS, HEAPS), min_size=10, max_size=15))


@given(st.lists(st.integers(0, 2 * MAX_IDENTITY), min_size=1, max_size=3 * MAX_IDENTITY), st.randoms())
def test_a_container_is_one_of_a_few_in_whatever_order_it_is_joined(numbers: list[int], random: Random) -> None:
    allocations = [Allocation(number + 1) for number in range(2 * MAX_IDENTITY + 1)]
    lists = [Tuple((Const(1),), mutable=True, identity=frozenset({allocations[number]})) for number in numbers]
    expected = frozenset().union(*[one.identity for one in lists])
    if len(expected) > MAX_IDENTITY:
        expected = frozenset({MANY})
    found: Value = random.choice(lists)
    for one in random.sample(lists, len(lists)):
        found = join((found, one))
    assert found.identity == join(lists).identity == expected
