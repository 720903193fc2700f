"""The heap: what attributes and globals hold, where that is not what they held when the call began.

Objects are frozen once their constructor has run. What code changes of them later stands here, so that every way
through a function has a heap of its own, and ways that meet join theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from exportlint.analysis.domain.values import Value

HEAP = "<heap>"
"""The name under which an environment holds its heap."""


class Cell(NamedTuple):
    """Something that outlives a call: an attribute, a global, the default of a parameter, or an entry of one of them.

    `owner` is the Instance, Class or function that has the attribute, the Module of a global, or the function whose
    parameter has the default.
    """

    owner: object
    name: str
    key: object = None


class Change(NamedTuple):
    """`before` is what the cell held at first, None where there was nothing; `now` is what it holds."""

    before: Value | None
    now: Value


class Heap(Value):
    """The cells that were changed, and those that were written on every way that leads here. Immutable."""

    __slots__ = ("changes", "written")

    def __init__(self, changes: Mapping[Cell, Change], written: frozenset[Cell] = frozenset()) -> None:
        self.changes = changes
        self.written = written

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
        return self if known == change and known.now is value else Heap({**self.changes, cell: change}, self.written)

    def marked(self, cells: Iterable[Cell]) -> Heap:
        """The heap in which some more cells have surely been written."""
        return Heap(self.changes, self.written.union(cells))

    def unmarked(self) -> Heap:
        """The heap of a call that begins: nothing has been written in it yet."""
        return Heap(self.changes) if self.written else self

    def without(self, owner: object) -> Heap:
        """The heap without the cells of one owner."""
        kept = {cell: change for cell, change in self.changes.items() if cell.owner is not owner}
        return self if len(kept) == len(self.changes) else Heap(kept, self.written)

    def of(self, owner: object) -> dict[str, Value]:
        """What the changed cells of one owner hold, by name."""
        return {cell.name: change.now for cell, change in self.changes.items() if cell.owner is owner}


EMPTY = Heap({})


def join_heaps(heaps: Iterable[Heap], join: Callable[[tuple[Value, Value]], Value]) -> Heap:
    """The heap where several ways meet: a cell that one way left alone may hold what it held at first."""
    first, *others = heaps
    if all(other is first for other in others):
        return first
    changes = dict(first.changes)
    written = first.written
    for other in others:
        written &= other.written
        for cell in {**changes, **other.changes}:
            mine, theirs = changes.get(cell), other.changes.get(cell)
            known = mine or theirs
            assert known is not None
            values = [v for v in (mine.now if mine else known.before, theirs.now if theirs else known.before) if v]
            now = values[0] if len(values) == 1 or values[0] is values[1] else join((values[0], values[1]))
            changes[cell] = Change(known.before, now)
    return Heap(changes, written)
