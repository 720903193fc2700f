"""The heap: what attributes, globals and containers hold, where that is not what they held when the call began.

Objects are frozen once their constructor has run, lists, dictionaries and sets as they were made. What code changes of
them later stands here, so that every way through a function has a heap of its own, and ways that meet join theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from exportlint.analysis.domain.cell_maps import differing, owned, updated, without
from exportlint.analysis.domain.values import Value

HEAP = "<heap>"
"""The name under which an environment holds its heap."""


CONTENTS = "<contents>"
"""The name of the cell of an allocation."""


EVERY = "<every>"
"""The name of what stands for all cells of an owner where it is said which were read."""


class Cell(NamedTuple):
    """Something that outlives a call: an attribute, a global, the default of a parameter, the contents of a container.

    `owner` is the Instance, Class or function that has the attribute, the Module of a global, the function whose
    parameter has the default, or the Allocation whose contents it is.
    """

    owner: object
    name: str


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


Keys = frozenset[object]
"""What the entries of a cell are known by; None stands for the cell itself."""
NO_KEYS = Keys()
Written = Mapping[Cell, Keys]
"""The cells that were written, or entries of them."""
NOTHING_WRITTEN: Written = {}


class Heap(Value):
    """The cells that were changed, and those that were written on every way that leads here. Immutable.

    Allocations with a number above `since` were made by the call at hand.
    """

    __slots__ = ("changes", "since", "written")

    def __init__(self, changes: Mapping[Cell, Change], written: Written = NOTHING_WRITTEN, since: int = 0) -> None:
        self.changes = changes
        self.written = written
        self.since = since

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Heap) and self.written == other.written and self.changes == other.changes

    def __hash__(self) -> int:
        return hash((len(self.changes), len(self.written)))

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
        return Heap(updated(self.changes, {cell: change}), self.written, self.since)

    def marked(self, cell: Cell, key: object) -> Heap:
        """The heap in which one more cell, or an entry of it, has surely been written."""
        written = written_before(self.written, {cell: frozenset((key,))})
        return self if written is self.written else Heap(self.changes, written, self.since)

    def unmarked(self, since: int) -> Heap:
        """The heap of a call that begins: nothing has been written in it yet, no allocation made."""
        return Heap(self.changes, since=since) if self.written or self.changes or since != self.since else self

    def without(self, owners: Collection[object]) -> Heap:
        """The heap without the cells of some owners."""
        gone = dict.fromkeys(owned(self.changes, owners))
        return Heap(without(self.changes, gone), self.written, self.since) if gone else self

    def of(self, owner: object) -> dict[str, Value]:
        """What the changed cells of one owner hold, by name."""
        return {cell.name: self.changes[cell].now for cell in owned(self.changes, (owner,))}

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
    changes, written = first[0].changes, first[0].written
    joined = [first]
    for other in others:
        heap = other[0]
        written = _written_in_both(written, heap.written)
        found: dict[Cell, Change] = {}
        for cell in differing(changes, heap.changes):
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
            found[cell] = Change(known.before, now)
        if found:
            changes = updated(changes, found)
        joined.append(other)
    return Heap(changes, written, first[0].since)


def written_before(one: Written, other: Written) -> Written:
    """What was written in two parts of one way; `one` itself if that is all."""
    if one is other:
        return one
    new = {cell: known | keys for cell, keys in other.items() if not keys <= (known := one.get(cell, NO_KEYS))}
    return updated(one, new) if new else one


def is_written_in(one: Written, other: Written) -> bool:
    """Whether all that was written in one way was written in another."""
    return one is other or all(keys <= other.get(cell, NO_KEYS) for cell, keys in one.items())


def _written_in_both(one: Written, other: Written) -> Written:
    kept = {cell: one[cell] & other.get(cell, NO_KEYS) for cell in differing(one, other) if cell in one}
    less = {cell: keys for cell, keys in kept.items() if keys and keys != one[cell]}
    found = without(one, {cell: None for cell, keys in kept.items() if not keys})
    return updated(found, less) if less else found
