"""Values that are one of several, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from exportlint.analysis.baked import Baked
from exportlint.analysis.domain.heap import EMPTY, HEAP, Heap, join_heaps
from exportlint.analysis.trail import Trail
from exportlint.analysis.values import (
    PYTHON,
    UNKNOWN,
    Const,
    Dict,
    Guard,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    Tuple,
    Union,
    Value,
)

MAX_OPTIONS = 4


def options(value: Value) -> tuple[Value, ...]:
    """What a value can be, one by one."""
    return value.options if isinstance(value, Union) else (value,)


def join(values: Iterable[Value]) -> Value:
    """The value that is one of `values`. Constants that differ become some Python value."""
    found: dict[Value, Value] = {}
    for value in values:
        for option in options(value):
            found.setdefault(option, option)
    if len(found) == 1:
        return next(iter(found))
    constants = [v for v in found if isinstance(v, Const) and v.value is not None]
    if len(constants) > 1 and not all(isinstance(v.value, bool) for v in constants):
        for constant in constants:
            del found[constant]
        found.setdefault(PYTHON, PYTHON)
    if len(found) > MAX_OPTIONS or not found:
        interesting = [v for v in found if isinstance(v, (Tensor, Scalar))]
        return Union((UNKNOWN, *interesting[: MAX_OPTIONS - 1])) if interesting else UNKNOWN
    return next(iter(found)) if len(found) == 1 else Union(tuple(found))


def each(value: Value, function: Callable[[Value], Value]) -> Value:
    """What a function gives for a value, whichever of its options it is."""
    if isinstance(value, Union):
        return join([function(option) for option in value.options])
    return function(value)


def tensors_in(value: Value, depth: int = 3) -> Iterable[Tensor]:
    """The tensors that a value is or contains."""
    for option in options(value):
        if isinstance(option, Tensor):
            yield option
        elif depth and isinstance(option, Tuple):
            for item in option.items:
                yield from tensors_in(item, depth - 1)
        elif depth and isinstance(option, Sequence):
            yield from tensors_in(option.item, depth - 1)
        elif depth and isinstance(option, Dict):
            for _, item in option.entries:
                yield from tensors_in(item, depth - 1)
            if option.rest is not None:
                yield from tensors_in(option.rest, depth - 1)


def with_trail(value: Value, trail: Trail) -> Value:
    """The same value, one step later. Only what findings explain has a trail."""
    if isinstance(value, (Tensor, Scalar, Size, Guard, Baked)):
        return replace(value, trail=trail)
    if isinstance(value, Sequence) and isinstance(value.item, Scalar):
        return replace(value, item=replace(value.item, trail=trail))
    if isinstance(value, Union):
        return Union(tuple(with_trail(option, trail) for option in value.options))
    return value


def trail_of(value: Value) -> Trail | None:
    """How the value came about, if that is known."""
    for option in options(value):
        if isinstance(option, (Tensor, Scalar, Size, Guard, Baked)) and option.trail is not None:
            return option.trail
        if isinstance(option, Shape):
            return option.tensor.trail
        if isinstance(option, Sequence) and isinstance(option.item, Scalar):
            return option.item.trail
    return None


def join_environments(environments: Iterable[Mapping[str, Value] | None]) -> dict[str, Value] | None:
    """What the variables hold where several ways meet; None for a way that is never taken."""
    live = [e for e in environments if e is not None]
    if not live:
        return None
    first, *others = live
    joined = dict(first)
    for other in others:
        for name, value in other.items():
            mine = joined.get(name)
            if mine is None:
                joined[name] = value
            elif name == HEAP:
                continue
            elif mine is not value and mine != value:
                joined[name] = join((mine, value))
    if HEAP in joined:
        joined[HEAP] = join_heaps([heap_of(env) for env in live], join)
    return joined


def heap_of(environment: Mapping[str, Value]) -> Heap:
    """The heap that belongs to the variables of a call."""
    found = environment.get(HEAP, EMPTY)
    assert isinstance(found, Heap)
    return found
