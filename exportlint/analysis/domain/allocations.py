"""Identities of lists, dictionaries and sets: which of them a value is, and what it contains on the current path.

A container is frozen when it is created, with an `Allocation` as its identity. Later changes are in the heap, in the
cell of that allocation, so they are visible through every name. Identity does not count for equality: values that
behave alike are equal.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from exportlint.analysis.domain.heap import ELSEWHERE, MANY, MAX_IDENTITY, Allocation, Cell, Change
from exportlint.analysis.domain.values import (
    NOWHERE,
    BoundMethod,
    Dict,
    Sequence,
    Tuple,
    Union,
    Value,
)

Join = Callable[[Iterable[Value]], Value]

_MUTABLE = frozenset({"list", "set"})
_MANY = frozenset({MANY})
CONTAINERS = frozenset({Tuple, Sequence, Dict, Union, BoundMethod})
"""The classes of values that can be, or contain, a container with an identity."""


def is_mutable(value: Value) -> bool:
    """Whether a value is a container that code can change."""
    if isinstance(value, Tuple):
        return value.mutable
    return isinstance(value, Dict) or (isinstance(value, Sequence) and value.type in _MUTABLE)


def identified(value: Value, identity: frozenset[Allocation]) -> Value:
    """The same contents, as those of one of some allocations."""
    if isinstance(value, (Tuple, Sequence, Dict)):
        return value.identified(identity)
    if isinstance(value, Union):
        return Union(tuple([identified(option, identity) for option in value.options]))
    return value


def unidentified(value: Value) -> Value:
    """A copy with the same contents and no identity, to which nothing else refers."""
    return identified(value, NOWHERE)


def one_of_many(value: Value) -> Value:
    """A container that stands for all containers created at the same place."""
    return identified(value, value.identity | {ELSEWHERE}) if value.identity else value


def over_parts(value: Value, function: Callable[[Value], Value], join: Join) -> Value:
    """A container with `function` applied to its items; the container itself if that changes nothing."""
    if not isinstance(value, (Tuple, Sequence, Dict, Union, BoundMethod)):
        return value
    parts = tuple(value.parts())
    made = tuple([function(part) for part in parts])
    if all(map(operator.is_, parts, made)):
        return value
    if isinstance(value, Tuple):
        return replace(value, items=made)
    if isinstance(value, Sequence):
        return replace(value, item=made[0])
    if isinstance(value, Dict):
        entries = tuple([(key, entry) for (key, _), entry in zip(value.entries, made, strict=False)])
        return replace(value, entries=entries, rest=None if value.rest is None else made[-1])
    return join(made) if isinstance(value, Union) else replace(value, receiver=made[0])


class Memory(Protocol):
    """A cache of refreshed values."""

    def find(self, value: Value, changes: Mapping[Cell, Change]) -> Value | None:
        """The refreshed value, if it is known and valid for these changes."""

    def keep(self, value: Value, found: Value, changes: Mapping[Cell, Change]) -> None:
        """Remember what a value is refreshed to."""


def refreshed(
    value: Value,
    changes: Mapping[Cell, Change],
    join: Join,
    memory: Memory | None = None,
    busy: frozenset[Allocation] = NOWHERE,
) -> Value:
    """A value with the current contents of its containers. `busy` are those around it: a list can contain itself."""
    reaches = value.reaches
    if not any(allocation.cell in changes for allocation in reaches):
        return value
    own = value.identity
    if own & busy:
        return value
    if memory is None or not reaches.isdisjoint(busy):
        return _refreshed(value, changes, join, memory, busy)
    found = memory.find(value, changes)
    if found is None or not found.reaches.isdisjoint(busy):
        found = _refreshed(value, changes, join, memory, busy)
        if found.reaches.isdisjoint(busy):  # or it depends on what it is part of
            memory.keep(value, found, changes)
    return found


def _refreshed(
    value: Value, changes: Mapping[Cell, Change], join: Join, memory: Memory | None, busy: frozenset[Allocation]
) -> Value:
    own = value.identity
    if own:
        held = [changes[allocation.cell].now for allocation in own if allocation.cell in changes]
        if held:
            if len(held) < len(own):
                held.append(value)
            value = identified(held[0], own) if len(own) == 1 else _either(held, own, join)
            if isinstance(value, Union):
                return join([_parts_refreshed(option, changes, join, memory, busy | own) for option in value.options])
    return _parts_refreshed(value, changes, join, memory, busy | own)


def _either(values: list[Value], own: frozenset[Allocation], join: Join) -> Value:
    """A container that is one of several, as a single alternative that joins the contents of all."""
    found = join(values)
    options = found.options if isinstance(found, Union) else (found,)
    lists = [option for option in options if isinstance(option, (Tuple, Sequence))]
    if len(options) < 2 or len(lists) < len(options):
        return identified(found, own)
    item = join([part for option in lists for part in option.parts()])
    kinds = {option.type if isinstance(option, Sequence) else "list" for option in lists}
    return Sequence(item, kinds.pop() if len(kinds) == 1 else "list", own)


def _parts_refreshed(
    value: Value, changes: Mapping[Cell, Change], join: Join, memory: Memory | None, busy: frozenset[Allocation]
) -> Value:
    if not any(allocation.cell in changes for allocation in value.reaches if allocation not in busy):
        return value
    return over_parts(value, lambda part: refreshed(part, changes, join, memory, busy), join)


def renamed(value: Value, names: Mapping[Allocation, Allocation], join: Join) -> Value:
    """A value in which some allocations stand for others."""
    if value.reaches.isdisjoint(names):
        return value
    made = over_parts(value, lambda part: renamed(part, names, join), join)
    return identified(made, frozenset([names.get(a, a) for a in value.identity])) if value.identity else made


def lost(value: Value, allocations: frozenset[Allocation], join: Join) -> Value:
    """A value in which containers that can be one of `allocations` become MANY, whose changes are not followed."""
    if value.reaches.isdisjoint(allocations):
        return value
    made = over_parts(value, lambda part: lost(part, allocations, join), join)
    return identified(made, _MANY) if made.identity & allocations else made


def without(value: Value, allocation: Allocation, join: Join) -> Value:
    """A value that is no longer known to be `allocation`."""
    return renamed(value, {allocation: ELSEWHERE}, join)


def merged_identity(values: Iterable[Value]) -> frozenset[Allocation]:
    """The identity of a container that is one of several."""
    found = [value.identity for value in values]
    if not any(found):
        return NOWHERE
    identity = frozenset[Allocation]().union(*[identity or (ELSEWHERE,) for identity in found])
    return _MANY if len(identity) > MAX_IDENTITY or MANY in identity else identity


def blended(one: Value, other: Value) -> Value:
    """One of two equal values, with the container identities of both."""
    if one is other or (one.reaches == other.reaches and one.identity == other.identity):
        return one
    if isinstance(one, Tuple) and isinstance(other, Tuple):
        return one.alike(merged_identity((one, other)), items=tuple(map(blended, one.items, other.items)))
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return one.alike(merged_identity((one, other)), item=blended(one.item, other.item))
    if isinstance(one, Dict) and isinstance(other, Dict):
        entries = tuple([(k, blended(v, w)) for (k, v), (_, w) in zip(one.entries, other.entries, strict=True)])
        rest = one.rest if one.rest is None or other.rest is None else blended(one.rest, other.rest)
        return one.alike(merged_identity((one, other)), entries=entries, rest=rest)
    if isinstance(one, Union) and isinstance(other, Union):
        alike = {option: option for option in other.options}
        return one.alike(options=tuple([blended(option, alike[option]) for option in one.options]))
    if isinstance(one, BoundMethod) and isinstance(other, BoundMethod):
        return one.alike(receiver=blended(one.receiver, other.receiver))
    return one


def identities(value: Value) -> Iterator[frozenset[Allocation]]:
    """The identities of all containers of a value, in an order that is the same for equal values."""
    if isinstance(value, Union):
        yield value.reaches
    elif value.reaches:
        yield value.identity
        if isinstance(value, Tuple):
            parts: Iterable[Value] = value.items
        elif isinstance(value, (Sequence, Dict)):
            parts = value.parts()
        else:
            parts = (value.receiver,) if isinstance(value, BoundMethod) else ()
        for part in parts:
            yield from identities(part)
    elif isinstance(value, (Tuple, Sequence, Dict)):
        yield NOWHERE
