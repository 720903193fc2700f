"""Values that are one of several, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

from exportlint.analysis.domain.allocations import blended, merged_identity
from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.heap import EMPTY, HEAP, Heap, join_heaps
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    Const,
    Dict,
    Guard,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Union,
    Unknown,
    Value,
)

MAX_OPTIONS = 4
"""More than so many are merged."""


def options(value: Value) -> tuple[Value, ...]:
    """What a value can be, one by one."""
    return value.options if isinstance(value, Union) else (value,)


def join(values: Iterable[Value]) -> Value:
    """The value that is one of `values`: an upper bound of them. Constants that differ become some Python value."""
    found: dict[Value, Value] = {}
    for value in values:
        for option in options(value):
            known = found.setdefault(option, option)
            if known is not option and known.reaches != option.reaches:
                del found[option]
                option = blended(known, option)
                found[option] = option
    if len(found) == 1:
        return next(iter(found))
    constants = [v for v in found if isinstance(v, Const) and v.value is not None]
    if PYTHON in found or (len(constants) > 1 and not all(isinstance(v.value, bool) for v in constants)):
        for constant in constants:
            del found[constant]
        found.setdefault(PYTHON, PYTHON)
    if len(found) > MAX_OPTIONS:
        return merged(found)
    return union(found)


def union(found: Iterable[Value]) -> Value:
    """One of some values that differ."""
    kept = tuple(found)
    return UNKNOWN if not kept else kept[0] if len(kept) == 1 else Union(kept)


def merged(values: Iterable[Value]) -> Value:
    """One of many values: at most one of each sort is left, of which only what they have in common is known.

    Of sorts that cannot be merged nothing is left, so that a tensor beside them is only perhaps one.
    """
    sorts: dict[type, list[Value]] = {}
    for value in values:
        sort = type(None) if value == NONE else SORTS.get(type(value), type(value))
        sorts.setdefault(sort, []).append(value)
    found: dict[Value, None] = {}
    is_lost = False
    for sort, members in sorts.items():
        merge = MERGES.get(sort)
        value = members[0] if len(members) == 1 else merge(members) if merge is not None else UNKNOWN
        is_lost = is_lost or (value == UNKNOWN and UNKNOWN not in members)
        found[value] = None
    return union({_perhaps(value): None for value in found} if is_lost else found)


def widen(before: Value, after: Value) -> Value:
    """An upper bound of both that is reached after a few steps, however often `after` grows."""
    found = join((before, after))
    if found == before:
        return before if found.reaches == before.reaches else found
    found = merged(options(found))
    if UNKNOWN in options(found) and not isinstance(found, Unknown):
        # what cannot be merged would come and go for ever
        found = union(
            dict.fromkeys([UNKNOWN, *(_perhaps(o) for o in options(found) if isinstance(o, (Tensor, Scalar)))])
        )
    return found if found.weight <= max(before.weight, after.weight) else UNKNOWN


def leq(value: Value, bound: Value) -> bool:
    """Whether a value is one of those that another stands for."""
    return join((bound, value)) == bound or merged([*options(bound), *options(value)]) == bound


def _perhaps(value: Value) -> Value:
    return replace(value, assumed=True) if isinstance(value, (Tensor, Scalar)) else value


def _same(values: Iterable[T], otherwise: T) -> T:
    found = set(values)
    return found.pop() if len(found) == 1 else otherwise


def _merged_tensors(tensors: list[Tensor]) -> Tensor:
    return Tensor(
        _same((t.origin for t in tensors), Origin.FRESH),
        _same((t.kind for t in tensors), None),
        reduce(TensorShape.join, [t.shape for t in tensors]),
        known=any(t.known for t in tensors),
        assumed=any(t.assumed for t in tensors),
        optional=any(t.optional for t in tensors),
        data=_same((t.data for t in tensors), None),
        detached=all(t.detached for t in tensors),
        region=_same((t.region for t in tensors), 0),
        form=_same((t.form for t in tensors), None),
        fed=all(t.fed for t in tensors),
        made=_same((t.made for t in tensors), None),
        name=_same((t.name for t in tensors), ""),
        trail=tensors[0].trail,
    )


def _merged_numbers(numbers: list[Scalar]) -> Scalar:
    return Scalar(
        _same((n.kind for n in numbers), None),
        _same((n.api for n in numbers), "item"),
        any(n.assumed for n in numbers),
        numbers[0].trail,
    )


def _merged_sequences(sequences: list[Tuple | Sequence]) -> Value:
    first = sequences[0]
    if isinstance(first, Tuple) and all(isinstance(s, Tuple) and _is_alike(s, first) for s in sequences):
        columns = zip(*(s.items for s in sequences if isinstance(s, Tuple)), strict=True)
        return replace(first, items=tuple([join(column) for column in columns]), identity=merged_identity(sequences))
    items = [item for s in sequences for item in (s.items if isinstance(s, Tuple) else (s.item,))]
    types = (s.type if isinstance(s, Sequence) else "list" if s.mutable else "tuple" for s in sequences)
    return Sequence(join(items), _same(types, "list"), merged_identity(sequences))


def _is_alike(one: Tuple, other: Tuple) -> bool:
    return len(one.items) == len(other.items) and (one.mutable, one.fields) == (other.mutable, other.fields)


def _merged_dicts(dicts: list[Dict]) -> Value:
    keys = [k for k, _ in dicts[0].entries if all(d.get(k) is not None for d in dicts)]
    entries = tuple((k, join([v for d in dicts if (v := d.get(k)) is not None])) for k in keys)
    known = {(type(k), k) for k in keys}
    rest = [v for d in dicts for v in (*(v for k, v in d.entries if (type(k), k) not in known), d.rest) if v]
    return Dict(entries, join(rest) if rest else None, merged_identity(dicts))


def _merged_modules(modules: list[TorchModule]) -> Value:
    """Containers of modules that grow in a loop: which of the modules stands where is not known any more."""
    if any(m.items is None for m in modules) or len({m.name for m in modules}) > 1:
        return UNKNOWN
    items = dict.fromkeys(item for m in modules for item in m.items or ())
    return TorchModule(modules[0].name, tuple(items))


T = TypeVar("T")
SORTS: dict[type[Value], type[Value]] = {Tuple: Sequence, Const: Python, Size: Python, Guard: Python, Baked: Python}
MERGES: dict[type, Callable[[list[Any]], Value]] = {
    Tensor: _merged_tensors,
    Scalar: _merged_numbers,
    Sequence: _merged_sequences,
    Dict: _merged_dicts,
    TorchModule: _merged_modules,
    Python: lambda _: PYTHON,
}


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
            elif mine is not value and (mine != value or mine.reaches != value.reaches):
                joined[name] = join((mine, value))
    if HEAP in joined:
        joined[HEAP] = join_heaps([(heap_of(env), env) for env in live], join)
    return joined


def heap_of(environment: Mapping[str, Value]) -> Heap:
    """The heap that belongs to the variables of a call."""
    found = environment.get(HEAP, EMPTY)
    assert isinstance(found, Heap)
    return found


def widen_environments(before: Mapping[str, Value], after: Mapping[str, Value]) -> dict[str, Value]:
    """What the variables hold after any number of passes of a loop."""
    found = dict(before)
    for name, value in after.items():
        known = before.get(name)
        if name == HEAP:
            found[name] = join_heaps(
                [(heap_of(before), before), (heap_of(after), after)], lambda values: widen(*values)
            )
        else:
            found[name] = value if known is None or known is value else widen(known, value)
    return found
