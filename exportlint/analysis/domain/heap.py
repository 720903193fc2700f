"""The heap: what attributes, globals and containers hold, if it changed since the call began.

Objects are frozen once their constructor has run; lists, dictionaries and sets, once they are created. Later changes
are in the heap, so each path through a function has its own heap, and paths that meet join theirs.
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
"""In a record of cells that were read, the name that stands for all cells of an owner."""


class Cell(NamedTuple):
    """A place that outlives a call: an attribute, a global, the default of a parameter, the contents of a container.

    `owner` is the Instance, Class or function that has the attribute, the Module of a global, the function whose
    parameter has the default, or the Allocation whose contents it is.
    """

    owner: object
    name: str


class Allocation:
    """The identity of a list, dictionary or set. Equal only to itself.

    `cell` holds the contents once they have changed. `serial` numbers allocations in the order of creation. `fixed`: it
    can be reached by an attribute, a global or the default of a parameter, not only by variables and arguments.
    """

    __slots__ = ("cell", "fixed", "serial")

    def __init__(self, serial: int) -> None:
        self.serial = serial
        self.fixed = False
        self.cell = Cell(self, CONTENTS)


ELSEWHERE = Allocation(0)
"""Stands for unknown allocations. Its contents never change."""


MANY = Allocation(0)
"""Stands for more than MAX_IDENTITY allocations: later changes of such a container are not followed."""

MAX_IDENTITY = 4
"""The most allocations that one container can be."""


UNTRACKED = frozenset({ELSEWHERE, MANY})
"""Allocations whose contents are not followed."""


class Change(NamedTuple):
    """`before` is what the cell held at first, None where there was nothing; `now` is what it holds."""

    before: Value | None
    now: Value


Keys = frozenset[object]
"""The keys of the entries of a cell; None stands for the whole cell."""
NO_KEYS = Keys()
Written = Mapping[Cell, Keys]
"""The cells that were written, each with the keys of the written entries."""
NOTHING_WRITTEN: Written = {}


class Heap(Value):
    """The cells that changed, and those that were written on every path that leads here. Immutable.

    Allocations with a serial above `since` were created by the current call.
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
        """The heap in which one more cell, or an entry of it, has certainly been written."""
        written = written_before(self.written, {cell: frozenset((key,))})
        return self if written is self.written else Heap(self.changes, written, self.since)

    def unmarked(self, since: int) -> Heap:
        """The heap at the beginning of a call, which has written nothing and created nothing."""
        return Heap(self.changes, since=since) if self.written or self.changes or since != self.since else self

    def without(self, owners: Collection[object]) -> Heap:
        """The heap without the cells of some owners."""
        gone = dict.fromkeys(owned(self.changes, owners))
        return Heap(without(self.changes, gone), self.written, self.since) if gone else self

    def of(self, owner: object) -> dict[str, Value]:
        """What the changed cells of one owner hold, by name."""
        return {cell.name: self.changes[cell].now for cell in owned(self.changes, (owner,))}

    def has(self, allocation: Allocation, variables: Mapping[str, Value]) -> bool:
        """Whether an allocation exists in the state given by this heap and these variables."""
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
    """The heap after several paths meet: a cell that one path left unchanged may still hold its original value.

    Each state is the heap and the variables of one path. A container that only one path created keeps its contents.
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
    """What was written in two consecutive parts of one path; `one` itself if it includes `other`."""
    if one is other:
        return one
    new = {cell: known | keys for cell, keys in other.items() if not keys <= (known := one.get(cell, NO_KEYS))}
    return updated(one, new) if new else one


def is_written_in(one: Written, other: Written) -> bool:
    """Whether everything written in `one` was also written in `other`."""
    return one is other or all(keys <= other.get(cell, NO_KEYS) for cell, keys in one.items())


def _written_in_both(one: Written, other: Written) -> Written:
    kept = {cell: one[cell] & other.get(cell, NO_KEYS) for cell in differing(one, other) if cell in one}
    less = {cell: keys for cell, keys in kept.items() if keys and keys != one[cell]}
    found = without(one, {cell: None for cell, keys in kept.items() if not keys})
    return updated(found, less) if less else found
