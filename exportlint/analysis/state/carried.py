"""Which state is carried from one call to the next, told from who reads and who writes it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cached_property

from exportlint.analysis.domain.accesses import Read, State, Write, entry_key
from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.values import NONE, Const, Dict, Python, Sequence, Tuple
from exportlint.analysis.state.effects import Effect
from exportlint.analysis.state.uses import CHANGES, Flow, Use, Uses
from exportlint.syntax.definitions import dotted

GROWING = frozenset(
    {"append", "extend", "insert", "pop", "remove", "popitem", "appendleft", "extendleft", "popleft", "next"}
)
"""Methods, and `next`, that leave something else behind each time that they are called."""
COUNTING = frozenset({"update", "subtract"})
"""Methods of `collections.Counter` that do so."""


@dataclass(frozen=True)
class Calls:
    """What calls do to the state that they find.

    `state` is what a first and a second call do; `first` gives what the first one does, `rewritten` the cells that one
    writes which comes after it. `restored` are the cells that a call leaves as it found them.
    """

    state: State
    first: Callable[[], State]
    rewritten: Callable[[], Set[Cell]]
    restored: Set[Cell]


class Carried:
    """The state of an analysis, and what of it reaches later calls."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.state = state = calls.state
        self.writes: dict[Cell, list[Write]] = {}
        for write in state.writes.values():
            self.writes.setdefault(write.cell, []).append(write)
        self._uses = Uses(state)
        self._reads: dict[Cell, list[tuple[Read, frozenset[Use]]]] = {}
        for read in state.reads.values():
            if read.cell in self.writes:
                uses = self._uses.of(read.node, read.function)
                self._reads.setdefault(read.cell, []).append((read, uses))

    def read_of(self, cell: Cell) -> tuple[Read, Effect | None] | None:
        """A read by which what one call leaves in the cell decides what the next one computes; None if none does.

        With it, what runs or not as it says, if that is all that it decides.
        """
        is_switched = any(_is_switch(w) for w in self.writes[cell])
        for read, uses in self._reads.get(cell, ()):
            only_itself = all(isinstance(use, Flow) and use.cell == cell for use in uses)
            counts = self.varies(cell) or (is_switched and read.may_be_first and not only_itself)
            if not counts or not self._is_exposed(read):
                continue
            found = [use for use in uses if _reaches(use, self._live)]
            if found:
                effects = [use for use in found if isinstance(use, Effect)]
                return read, min(effects, key=_place) if len(effects) == len(found) else None
        return None

    def varies(self, cell: Cell) -> bool:
        """Whether what calls leave in the cell depends on their inputs, or on what was there before."""
        return cell in self._varying

    def is_used(self, cell: Cell) -> bool:
        """Whether anything that the program does depends on the cell."""
        return cell in self._live

    def is_found(self, cell: Cell) -> bool:
        """Whether what an earlier call left in the cell may matter to a call, whatever it is."""
        found = ((read, use) for read, uses in self._reads.get(cell, ()) for use in uses if _reaches(use, self._live))
        return any(self._is_exposed(read) for read, _ in found)

    def _is_exposed(self, read: Read) -> bool:
        """Whether the read may find what an earlier call left behind."""
        if None in read.written:
            return False
        parent = self._uses.parent(read.node, read.function)
        if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
            key = parent.slice.value
            return entry_key(key) not in read.written
        return True

    @cached_property
    def _first_reads(self) -> dict[Cell, list[Read]]:
        """What the first call reads."""
        found: dict[Cell, list[Read]] = {}
        for read in self._calls.first().reads.values():
            found.setdefault(read.cell, []).append(read)
        return found

    @cached_property
    def _live(self) -> set[Cell]:
        """The cells that reach an output, directly or through others."""
        live: set[Cell] = set()
        while True:
            found = {c for c, reads in self._reads.items() if any(_reaches(u, live) for _, us in reads for u in us)}
            if found <= live:
                return live
            live |= found

    @cached_property
    def _varying(self) -> set[Cell]:
        varying = {w.cell for ws in self.writes.values() for w in ws if w.depends_on_input or _grows(w)}
        varying |= {cell for cell in self._reads if self._feeds_itself(cell) and not self._settles(cell)}
        flows = {cell: {u for _, us in reads for u in us if isinstance(u, Flow)} for cell, reads in self._reads.items()}
        while True:
            found = {flow.cell for cell in varying for flow in flows.get(cell, ())}
            if found <= varying:
                return varying
            varying |= found

    def _feeds_itself(self, cell: Cell) -> bool:
        """Whether a call makes something else of what an earlier one left, and leaves that in turn.

        The sizes of a result are no such thing: results fit the inputs, and a table that is long enough stays.
        """
        return any(self._is_exposed(read) and Flow(cell, "changed") in uses for read, uses in self._reads.get(cell, ()))

    def _settles(self, cell: Cell) -> bool:
        """Whether the first call alone writes a cell, before anything but that write reads it.

        `if self.first: self.first = False; self.kernel = self.kernel.repeat(3, 1)`: the program does so each time, with
        the kernel that it began with.
        """
        reads = [read for read in self._first_reads.get(cell, ()) if self._is_exposed(read)]
        uses = {use for read in reads for use in self._uses.of(read.node, read.function)}
        return uses <= {Flow(cell, change) for change in CHANGES} and cell not in self._calls.rewritten()


def _place(effect: Effect) -> tuple[int, int]:
    return effect.statement.lineno, effect.statement.col_offset


def _reaches(use: Use, live: set[Cell]) -> bool:
    return use.cell in live if isinstance(use, Flow) else True


def _is_switch(write: Write) -> bool:
    """`self.started = True`, `self.seen.add("first")`: a constant that was not there before."""
    values = write.value.items if isinstance(write.value, Tuple) else (write.value,)
    return any(isinstance(v, Const) and v not in {NONE, write.before} for v in values)


def _grows(write: Write) -> bool:
    node = write.node
    name = (dotted(node.func) or "").rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name in GROWING or (name in COUNTING and _counts(write))


def _counts(write: Write) -> bool:
    """Whether a Counter counts: a dictionary of numbers gets what no other dictionary takes, elements and not pairs."""
    given = write.value.items[0] if isinstance(write.value, Tuple) and write.value.items else None
    is_counter = isinstance(write.before, Dict) and write.before.rest == Python("int")
    items = given.items if isinstance(given, Tuple) else ()
    is_text = isinstance(given, Const) and isinstance(given.value, str)
    return is_counter and (is_text or bool(items)) and not any(isinstance(item, (Tuple, Sequence)) for item in items)
