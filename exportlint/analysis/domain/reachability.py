"""Which objects and containers code can still get at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from exportlint.analysis.domain.heap import Allocation, Heap
from exportlint.analysis.domain.values import (
    AttributesOf,
    Closure,
    Composite,
    Function,
    Instance,
    Object,
    Registry,
    Value,
)

Owner = Instance | Allocation


def reachable(values: Iterable[Value], heap: Heap) -> set[Owner]:
    """The objects and containers that some values lead to where this is the heap.

    What globals, classes and defaults of parameters hold can always be reached.
    """
    stored: dict[object, list[Value]] = defaultdict(list)
    waiting = list(values)
    for cell, change in heap.changes.items():
        if isinstance(cell.owner, (Instance, Allocation)):
            stored[cell.owner].append(change.now)
        else:
            waiting.append(change.now)
    found: set[Owner] = set()
    closures: set[Closure] = set()
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        owners: list[Owner] = list(value.reaches)
        if isinstance(value, (AttributesOf, Registry)):
            waiting.append(value.receiver)
        if isinstance(value, Object):
            owners.append(value.instance)
        elif isinstance(value, Composite):
            waiting += value.parts()
        for owner in owners:
            if owner not in found:
                found.add(owner)
                waiting += stored[owner]
                if isinstance(owner, Instance):
                    waiting += [*owner.attributes.values(), *owner.registered]
        closure = value.closure if isinstance(value, Function) else None
        while closure is not None and closure not in closures:
            closures.add(closure)
            waiting += closure.variables.values()
            closure = closure.parent
    return found
