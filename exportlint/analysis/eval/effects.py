"""What one call of a function does besides returning a value, relative to its caller.

A result that is known from another call brings its effects along: they are told again with those of the caller. So it
makes no difference which call was run first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from exportlint.analysis.domain.accesses import Read, State, Write
from exportlint.analysis.domain.heap import EMPTY, Cell, Heap
from exportlint.analysis.domain.trails import Site
from exportlint.analysis.domain.values import Value
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.order import FactKey, keep
from exportlint.syntax.definitions import FunctionNode, Module


class Called(NamedTuple):
    """The effects of a call, and what was surely written before it. `tells`: its facts are the caller's too."""

    effects: Effects
    written: frozenset[Cell]
    tells: bool


class Mode(NamedTuple):
    """The mode of a module is asked for: `name` is the flag, or the module that behaves by it."""

    name: str
    site: Site
    symbol: str
    guarded: bool


@dataclass(slots=True, eq=False)
class Effects:
    """What one call does, in the order in which it does so.

    `entry` is the heap as it began, `cells` are those that it read, `made` are the objects that it made.
    """

    function: FunctionNode | None = None
    module: Module | None = None
    entry: Heap = EMPTY
    facts: dict[FactKey, Fact] = field(default_factory=dict)
    modes: dict[str, Mode] = field(default_factory=dict)
    cells: set[Cell] = field(default_factory=set)
    made: set[object] = field(default_factory=set)
    events: dict[object, Read | Write | Called] = field(default_factory=dict)

    def call(self, effects: Effects, written: frozenset[Cell], *, tells: bool = True) -> None:
        """A function is called, or its result is known from another call."""
        self.cells |= effects.cells
        self.made |= effects.made
        if effects.facts or effects.events or effects.modes or effects.function is not None:
            self.events.setdefault((id(effects), written, tells), Called(effects, written, tells))

    def read(self, cell: Cell, node: ast.AST, function: ast.AST, written: frozenset[Cell]) -> None:
        """A cell is read at a node."""
        known = self.events.get((Read, cell, node))
        if isinstance(known, Read):
            known.written &= written
        else:
            self.events[Read, cell, node] = Read(cell, node, function, written, True)

    def write(self, write: Write) -> Write:
        """A cell is written; of several times at one place the first, which finds the cell as export does."""
        known = self.events.setdefault((Write, write.cell, write.node), write)
        assert isinstance(known, Write)
        known.fed = known.fed or write.fed
        return known

    def keep(self, effects: Effects, facts: dict[FactKey, Fact]) -> None:
        """Take over the modes of effects that were collected apart, and some of their facts."""
        for key, fact in facts.items():
            keep(self.facts, fact, key)
        for mode in effects.all_modes():
            self.modes.setdefault(mode.name, mode)

    def all_facts(self) -> dict[FactKey, Fact]:
        """The facts of the call and of those that it makes."""
        found: dict[FactKey, Fact] = {}
        for effects in self._telling():
            for key, fact in effects.facts.items():
                keep(found, fact, key)
        return found

    def all_modes(self) -> tuple[Mode, ...]:
        """The modes that the call and those that it makes ask for, each once."""
        found: dict[str, Mode] = {}
        for effects in self._telling():
            for name, mode in effects.modes.items():
                found.setdefault(name, mode)
        return tuple(found.values())

    def add_to(self, state: State) -> None:
        """Tell a call of an entry point, in which nothing has been written before, to the state of its module."""
        self._add_to(state, frozenset(), set(), set())

    def _telling(self) -> Iterator[Effects]:
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            effects = waiting.pop()
            if id(effects) not in seen:
                seen.add(id(effects))
                yield effects
                called = [e.effects for e in effects.events.values() if isinstance(e, Called) and e.tells]
                waiting += reversed(called)

    def _add_to(
        self, state: State, before: frozenset[Cell], touched: set[Cell], seen: set[tuple[int, frozenset[Cell]]]
    ) -> None:
        if (id(self), before) in seen:
            return
        seen.add((id(self), before))
        if self.function is not None and self.module is not None:
            state.functions.setdefault(self.function.name, {})[self.function] = self.module
        for event in self.events.values():
            if isinstance(event, Called):
                event.effects._add_to(state, before | event.written, touched, seen)
            elif isinstance(event, Read):
                state.read(event.cell, event.node, event.function, before | event.written, event.cell not in touched)
            else:
                touched.add(event.cell)
                state.write(replace(event))


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What a function does when it is called in one way.

    It holds for callers whose heap holds in the cells that it `reads` what it held then (`held`: the changed ones).
    `changes` are the cells that it leaves changed, and `written` those that it has surely written.
    """

    value: Value
    effects: Effects
    reads: frozenset[Cell]
    held: dict[Cell, Value]
    left: Heap

    def fits(self, heap: Heap) -> bool:
        """Whether the function would do the same, called with this heap."""
        changes, held = heap.changes, self.held
        if not changes:
            return not held
        if any(changes[cell].now != held.get(cell) for cell in changes if cell in self.reads):
            return False
        return all(cell in changes for cell in held)

    def after(self, heap: Heap) -> Heap:
        """The heap of a caller once the function has returned."""
        left = self.left
        if not left.changes and left.written <= heap.written:
            return heap
        return Heap({**heap.changes, **left.changes}, heap.written | left.written)


def summarize(value: Value, effects: Effects, exit_heap: Heap) -> Summary:
    """What a call that has been run does, for others to know."""
    entry = effects.entry
    changed = {cell: change for cell, change in exit_heap.changes.items() if entry.changes.get(cell) is not change}
    reads = frozenset(cell for cell in (*effects.cells, *changed) if cell.owner not in effects.made)
    held = {cell: change.now for cell, change in entry.changes.items() if cell in reads}
    return Summary(value, effects, reads, held, Heap(changed, exit_heap.written))
