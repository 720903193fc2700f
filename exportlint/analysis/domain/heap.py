"""The heap: what attributes, globals and containers hold, where that is not what they held when the call began.

Objects are frozen once their constructor has run, lists, dictionaries and sets as they were made. What code changes of
them later stands here, so that every way through a function has a heap of its own, and ways that meet join theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from exportlint.analysis.domain.values import Value

HEAP = "<heap>"
"""The name under which an environment holds its heap."""


CONTENTS = "<contents>"
"""The name of the cell of an allocation."""


class Cell(NamedTuple):
    """Something that outlives a call: an attribute, a global, the default of a parameter, or an entry of one of them.

    `owner` is the Instance, Class or function that has the attribute, the Module of a global, the function whose
    parameter has the default, or the Allocation whose contents it is.
    """

    owner: object
    name: str
    key: object = None


class Allocation:
    """The identity of a list, dictionary or set. Equal only to itself.

    `cell` holds what it contains once that was changed. `serial` numbers allocations as they are made. `fixed`: it can
    be reached in other ways than by variables and arguments: by an attribute, a global, the default of a parameter.
    """

    __slots__ = ("cell", "fixed", "serial")

    def __init__(self, serial: int) -> None:
        self.serial = serial
        self.fixed = False
        self.cell = Cell(self, CONTENTS)


ELSEWHERE = Allocation(0)
"""Stands for allocations of which nothing is known. Its contents are never changed."""


MANY = Allocation(0)
"""Stands for more allocations than are told apart: a container that can be so many is as it was when they met."""

MAX_IDENTITY = 4
"""Allocations that one container can be."""


UNTRACKED = frozenset({ELSEWHERE, MANY})
"""Allocations whose contents are not followed."""


class Change(NamedTuple):
    """`before` is what the cell held at first, None where there was nothing; `now` is what it holds."""

    before: Value | None
    now: Value


class Heap(Value):
    """The cells that were changed, and those that were written on every way that leads here. Immutable.

    Allocations with a number above `since` were made by the call at hand.
    """

    __slots__ = ("changes", "since", "written")

    def __init__(self, changes: Mapping[Cell, Change], written: frozenset[Cell] = frozenset(), since: int = 0) -> None:
        self.changes = changes
        self.written = written
        self.since = since

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Heap) and self.written == other.written and self.changes == other.changes

    def __hash__(self) -> int:
        return hash(self.written)

    def get(self, cell: Cell) -> Value | None:
        """What a changed cell holds; None for any other."""
        change = self.changes.get(cell)
        return None if change is None else change.now

    def set(self, cell: Cell, value: Value, before: Value | None) -> Heap:
        """The heap in which a cell holds a value. `before` is what it held at first, if nothing has changed it yet."""
        known = self.changes.get(cell)
        change = Change(before if known is None else known.before, value)
        if known == change and known.now is value:
            return self
        return Heap({**self.changes, cell: change}, self.written, self.since)

    def marked(self, cells: Iterable[Cell]) -> Heap:
        """The heap in which some more cells have surely been written."""
        return Heap(self.changes, self.written.union(cells), self.since)

    def unmarked(self, since: int) -> Heap:
        """The heap of a call that begins: nothing has been written in it yet, no allocation made."""
        return Heap(self.changes, since=since) if self.written or self.changes or since != self.since else self

    def without(self, owners: Collection[object]) -> Heap:
        """The heap without the cells of some owners."""
        kept = {cell: change for cell, change in self.changes.items() if cell.owner not in owners}
        return self if len(kept) == len(self.changes) else Heap(kept, self.written, self.since)

    def of(self, owner: object) -> dict[str, Value]:
        """What the changed cells of one owner hold, by name."""
        return {cell.name: change.now for cell, change in self.changes.items() if cell.owner is owner}

    def has(self, allocation: Allocation, variables: Mapping[str, Value]) -> bool:
        """Whether an allocation is there where this is the heap and these are the variables."""
        if allocation.fixed or allocation.serial <= self.since or allocation.cell in self.changes:
            return True
        return any(allocation in value.reaches for value in variables.values()) or any(
            allocation in change.now.reaches for change in self.changes.values()
        )


EMPTY = Heap({})
NOTHING: Mapping[str, Value] = {}


def join_heaps(
    states: Iterable[tuple[Heap, Mapping[str, Value]]], join: Callable[[tuple[Value, Value]], Value]
) -> Heap:
    """The heap where several ways meet: a cell that one way left alone may hold what it held at first.

    Each way has its heap and its variables. A container that one way alone has made holds what it does there.
    """
    first, *others = states
    if all(heap is first[0] for heap, _ in others):
        return first[0]
    changes = dict(first[0].changes)
    written = first[0].written
    joined = [first]
    for other in others:
        heap = other[0]
        written &= heap.written
        differing = [cell for cell, theirs in heap.changes.items() if changes.get(cell) is not theirs]
        differing += [cell for cell in changes if cell not in heap.changes]
        for cell in differing:
            mine, theirs = changes.get(cell), heap.changes.get(cell)
            known = mine or theirs
            assert known is not None
            before = known.before
            if isinstance(cell.owner, Allocation) and (mine is None or theirs is None):
                missing = joined if mine is None else [other]
                if not any(way.has(cell.owner, variables) for way, variables in missing):
                    before = None
            values = [v for v in (mine.now if mine else before, theirs.now if theirs else before) if v]
            now = values[0] if len(values) == 1 or values[0] is values[1] else join((values[0], values[1]))
            changes[cell] = Change(known.before, now)
        joined.append(other)
    return Heap(changes, written, first[0].since)
