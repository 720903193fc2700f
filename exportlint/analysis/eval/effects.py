"""The effects of one call of a function, besides its return value, relative to its caller.

A result that is known from another call brings its effects along: they are told again with those of the caller. So it
makes no difference which call was run first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from exportlint.analysis.domain.accesses import Callee, Read, State, Write
from exportlint.analysis.domain.allocations import renamed
from exportlint.analysis.domain.cell_maps import differing, owned, updated
from exportlint.analysis.domain.heap import (
    EMPTY,
    EVERY,
    NO_KEYS,
    NOTHING_WRITTEN,
    Allocation,
    Cell,
    Change,
    Heap,
    Keys,
    Written,
    written_before,
)
from exportlint.analysis.domain.immutable import immutable_identity
from exportlint.analysis.domain.lattice import join, trails_in
from exportlint.analysis.domain.trails import Site, Trail
from exportlint.analysis.domain.values import Value
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.order import FactKey, keep
from exportlint.syntax.definitions import FunctionNode, Module

Entries = Sequence[tuple[Value, Value]]


class Called(NamedTuple):
    """The effects of a call, and what was surely written before it. `reports_facts`: its facts are the caller's too.

    `entries` are what the call was given whose effects these are, each with what it is given here.
    """

    effects: Effects
    written: Written
    reports_facts: bool
    entries: Entries = ()


class Raise(NamedTuple):
    """A `raise` that ends every call, in the function with the qualified name `symbol`.

    `is_stub`: a method of the module that is exported raises NotImplementedError, or does nothing but raise, for a
    subclass to override it.
    """

    site: Site
    symbol: str
    exception: str
    is_stub: bool = False


class Mode(NamedTuple):
    """A read of the train/eval mode of a module: `name` is the flag, or the submodule that depends on it."""

    name: str
    site: Site
    symbol: str
    guarded: bool


@dataclass(slots=True, eq=False)
class Effects:
    """The effects of one call, in order.

    `entry` is the heap as it began, `cells` are those that it read, `EVERY` standing for all of an owner, `containers`
    those that it looked into, `allocated` are the objects that it makes.
    `runs_operator`: it, or a call that it makes, runs an operator on tensors below an `except` that would swallow its
    failure. `raises` is the `raise` that all of its paths end in. `computes`: it, or a call that it makes, computes
    with tensors, not counting conversions, or calls what is not known. `asks_for_either`: it, or a call that it makes,
    asks for the truth or the number of what is tensor data in one way and something else in another.
    `switches_gradients`: it, or a call that it makes, may switch gradients on or off for the code that follows, or for
    a tensor or module. `put_back` are the cells that it gives their original values again. `parameters` are what it was
    given.
    """

    function: FunctionNode | None = None
    module: Module | None = None
    entry: Heap = EMPTY
    facts: dict[FactKey, Fact] = field(default_factory=dict)
    cells: set[Cell] = field(default_factory=set)
    containers: set[Allocation] = field(default_factory=set)
    allocated: set[object] = field(default_factory=set)
    events: dict[object, Read | Write | Called | Mode] = field(default_factory=dict)
    callees: dict[tuple[ast.AST, Callee], None] = field(default_factory=dict)
    reports: set[ast.AST] = field(default_factory=set)
    runs_operator: bool = False
    raises: Raise | None = None
    computes: bool = False
    asks_for_either: bool = False
    switches_gradients: bool = False
    put_back: set[Cell] = field(default_factory=set)
    parameters: Mapping[str, Value] = field(default_factory=dict)

    def call(self, effects: Effects, written: Written, *, reports_facts: bool = True, entries: Entries = ()) -> None:
        """Add the effects of a call. If they are known from another call, `entries` are as in Called."""
        self.cells |= effects.cells
        self.containers |= effects.containers
        self.allocated |= effects.allocated
        self.computes = self.computes or effects.computes
        self.switches_gradients = self.switches_gradients or effects.switches_gradients
        self.asks_for_either = self.asks_for_either or (reports_facts and effects.asks_for_either)
        self.runs_operator = self.runs_operator or (reports_facts and effects.runs_operator)
        if effects.facts or effects.events or effects.function is not None:
            self.events.setdefault(
                (id(effects), id(written), reports_facts), Called(effects, written, reports_facts, entries)
            )

    def ask(self, mode: Mode) -> None:
        """Record a read of a module's mode; only the first read counts."""
        self.events.setdefault((Mode, mode.name), mode)

    def read(self, cell: Cell, node: ast.AST, function: ast.AST, written: Keys) -> None:
        """Record that a cell is read at a node."""
        known = self.events.get((Read, cell, node))
        if isinstance(known, Read):
            known.written &= written
        else:
            self.events[Read, cell, node] = Read(cell, node, function, written, True)

    def write(self, write: Write) -> Write:
        """Record that a cell is written. Only the first write at a place counts, as that sees the state at export."""
        known = self.events.setdefault((Write, write.cell, write.node), write)
        assert isinstance(known, Write)
        known.depends_on_input = known.depends_on_input or write.depends_on_input
        return known

    def keep(self, effects: Effects, facts: dict[FactKey, Fact]) -> None:
        """Add the modes of separately collected effects, and some of their facts."""
        for key, fact in facts.items():
            keep(self.facts, fact, key)
        for mode in effects.all_modes():
            self.ask(mode)

    def all_facts(self) -> dict[FactKey, Fact]:
        """The facts of the call and of the calls that it makes, each with a trail through this call."""
        found: dict[FactKey, Fact] = {}
        for effects, trails in self._reporting():
            for key, fact in effects.facts.items():
                keep(found, _by_way_of(fact, trails), key)
        return found

    def all_modes(self) -> tuple[Mode, ...]:
        """The modes that the call and the calls it makes read, each once, in order."""
        found: dict[str, Mode] = {}
        self._modes(found, set())
        return tuple(found.values())

    def only_looks_up(self) -> bool:
        """Whether the call writes nothing, and the functions that it runs neither do, nor compute, nor meet a fact."""
        for event in self.events.values():
            if isinstance(event, Write):
                return False
            if isinstance(event, Called):
                inner = event.effects
                is_busy = inner.function is not None and (inner.computes or inner.facts)
                if is_busy or not inner.only_looks_up():
                    return False
        return True

    def _modes(self, found: dict[str, Mode], seen: set[int]) -> None:
        if id(self) in seen:
            return
        seen.add(id(self))
        for event in self.events.values():
            if isinstance(event, Mode):
                found.setdefault(event.name, event)
            elif isinstance(event, Called) and event.reports_facts:
                event.effects._modes(found, seen)

    def add_to(self, state: State) -> None:
        """Tell a call of an entry point, in which nothing has been written before, to the state of its module."""
        self._add_to(state, NOTHING_WRITTEN, set(), _Seen(), None)

    def _reporting(self) -> Iterator[tuple[Effects, _Trails]]:
        """The call and the calls that it makes, each once, with their trails, innermost first."""
        seen: set[int] = set()
        waiting: list[tuple[Effects, Entries, _Trails]] = [(self, (), ())]
        while waiting:
            effects, entries, trails = waiting.pop()
            if id(effects) not in seen:
                seen.add(id(effects))
                if entries:
                    trails = (_trails(entries), *trails)
                yield effects, trails
                called = [e for e in effects.events.values() if isinstance(e, Called) and e.reports_facts]
                waiting += [(e.effects, e.entries, trails) for e in reversed(called)]

    def _add_to(
        self,
        state: State,
        before: Written,
        touched: set[Cell],
        seen: _Seen,
        caller: FunctionNode | None,
    ) -> None:
        before = seen.same(before)
        if (id(self), id(before)) in seen.calls:
            return
        seen.calls.add((id(self), id(before)))
        if self.function is not None and self.module is not None:
            state.functions.setdefault(self.function.name, {})[self.function] = self.module
        function = self.function or caller
        state.reports |= self.reports
        state.put_back |= self.put_back
        for node, callee in self.callees:
            state.call(node, function, callee)
        for event in self.events.values():
            if isinstance(event, Called):
                event.effects._add_to(state, written_before(before, event.written), touched, seen, function)
            elif isinstance(event, Read):
                if isinstance(event.function, ast.Lambda) and self.module is not None:
                    state.functions.setdefault("<lambda>", {})[event.function] = self.module
                written = event.written | before.get(event.cell, NO_KEYS)
                state.read(event.cell, event.node, event.function, written, event.cell not in touched)
            elif isinstance(event, Write):
                touched.add(event.cell)
                state.write(replace(event))


class _Seen:
    """The calls that were told, each with what was written before: mappings that are equal are one."""

    def __init__(self) -> None:
        self.calls: set[tuple[int, int]] = set()
        self._known: dict[frozenset[tuple[Cell, Keys]], Written] = {}
        self._ids: dict[int, Written] = {}

    def same(self, written: Written) -> Written:
        """The mapping that stands for all that are equal to this one."""
        if id(written) in self._ids:
            return written
        found = self._known.setdefault(frozenset(written.items()), written)
        self._ids[id(found)] = found
        return found


_Trails = tuple[Mapping[Trail, Trail], ...]


def _trails(entries: Entries) -> Mapping[Trail, Trail]:
    """The trails of a call's arguments, keyed by the trails of equal arguments in another call."""
    pairs = (pair for known, given in entries for pair in zip(trails_in(known), trails_in(given), strict=False))
    return {known: given for known, given in pairs if known is not None and given is not None}


def _by_way_of(fact: Fact, trails: _Trails) -> Fact:
    """A fact of a call whose effects are known from other calls, with the trail that leads to it from this one."""
    trail = fact.trail
    for one in trails:
        if isinstance(trail, Trail):
            trail = trail.entered_by(one)
    return fact if trail is fact.trail else replace(fact, trail=trail)


Places = tuple[frozenset[Allocation], ...]
"""The identities of the containers passed to a call, in the order of its variables."""
Names = dict[Allocation, Allocation]
"""A renaming of allocations."""


@immutable_identity
class Summary:
    """The summary of one kind of call of a function: its result, effects and conditions.

    It holds for callers whose heap holds in the cells that it `reads` what it held then (`entry_values`: the changed
    ones). `changes` are the cells that it leaves changed, and `written` those that it has surely written. `given` are
    the containers that it was given, which stand for those of another caller, `made` those that it has made and gives
    back. `foreign` are those that it has met in other ways. It has read every cell that one of `whole` owns.
    """

    value: Value
    effects: Effects
    reads: frozenset[Cell]
    entry_values: dict[Cell, Value]
    exit_heap: Heap
    given: Places = ()
    made: tuple[Allocation, ...] = ()
    foreign: frozenset[Allocation] = frozenset()
    whole: frozenset[object] = frozenset()

    def fits(self, heap: Heap) -> bool:
        """Whether the summary is valid for a call with this heap."""
        changes, held = heap.changes, self.entry_values
        if not changes:
            return not held
        if any(changes[cell].now != held.get(cell) for cell in self.reads if cell in changes):
            return False
        if self.whole and any(cell not in held for cell in owned(changes, self.whole)):
            return False
        return all(cell in changes for cell in held)

    def names(self, given: Places) -> Names | None:
        """What its containers are called by a caller that gives others; None if it would not do the same with them."""
        names: Names = {}
        if given == self.given:
            return names
        if len(given) != len(self.given):
            return None
        for mine, theirs in zip(self.given, given, strict=True):
            if mine != theirs and (len(mine) != 1 or len(theirs) != 1):
                return None
            for one, other in [(one, one) for one in mine] if mine == theirs else [(*mine, *theirs)]:
                is_known = one is other or not (
                    one.fixed or other.fixed or one in self.foreign or other in self.foreign
                )
                if not is_known or names.setdefault(one, other) is not other:
                    return None
        return names if len(set(names.values())) == len(names) else None

    def under(self, names: Names) -> Summary:
        """The same, with other names for containers."""
        if not any(one is not other for one, other in names.items()):
            return self
        changes = {
            names[cell.owner].cell if cell.owner in names else cell: Change(
                change.before and renamed(change.before, names, join), renamed(change.now, names, join)
            )
            for cell, change in self.exit_heap.changes.items()
        }
        left = Heap(changes, self.exit_heap.written)
        return replace(self, value=renamed(self.value, names, join), exit_heap=left, given=(), made=())

    def after(self, heap: Heap) -> Heap:
        """The heap of the caller after the function returns."""
        left = self.exit_heap
        written = written_before(heap.written, left.written)
        if not left.changes and written is heap.written:
            return heap
        return Heap(updated(heap.changes, left.changes), written, heap.since)


def fitting(known: Iterable[Summary], heap: Heap, given: Places) -> tuple[Summary, Names] | None:
    """A summary that is valid for this call, and the names of its containers here; None if there is none."""
    for summary in known:
        if summary.fits(heap):
            names = summary.names(given)
            if names is not None:
                return summary, names
    return None


def _yes() -> bool:
    return True


def summarize(
    value: Value, effects: Effects, exit_heap: Heap, given: Places = (), encloses: Callable[[], bool] = _yes
) -> Summary:
    """The summary of a finished call, to be reused for others.

    `given` are the containers that it was given, as they were then. What it has made and does not
    give back is dropped, unless it `encloses` functions, which may hold it.
    """
    entry = effects.entry
    since = entry.since
    known, left = entry.changes, exit_heap.changes
    changed = {cell: left[cell] for cell in differing(known, left) if cell in left}
    earlier = {cell: change for cell, change in changed.items() if not _is_new(cell.owner, since)}
    reached = value.reaches.union(*[change.now.reaches for change in earlier.values()])
    if len(earlier) < len(changed) and not encloses():
        changed, reached = _pruned(changed, reached, since)
    arguments = frozenset().union(*given) if given else frozenset()
    effects.containers = {allocation for allocation in effects.containers if allocation.serial <= since}
    written = [cell for cell in earlier if cell.owner not in arguments]
    reads = frozenset([*effects.cells, *written, *(a.cell for a in effects.containers if a not in arguments)])
    if effects.allocated:
        reads = frozenset([cell for cell in reads if cell.owner not in effects.allocated])
    whole = frozenset(cell.owner for cell in reads if cell.name is EVERY)
    held = {cell: known[cell].now for cell in reads if cell in known}
    foreign = frozenset(cell.owner for cell in reads if isinstance(cell.owner, Allocation))
    made = tuple(sorted((a for a in reached if a.serial > since), key=lambda a: a.serial))
    return Summary(
        value, effects, reads, held, Heap(changed, exit_heap.written), given, made,
        foreign.union(*[now.reaches for now in held.values()]), whole,
    )  # fmt: skip


def _is_new(owner: object, since: int) -> bool:
    return isinstance(owner, Allocation) and owner.serial > since


def _pruned(
    changed: dict[Cell, Change], reached: frozenset[Allocation], since: int
) -> tuple[dict[Cell, Change], frozenset[Allocation]]:
    """The changes of containers that can be reached still, and which these are."""
    waiting, seen = list(reached), set(reached)
    while waiting:
        change = changed.get(waiting.pop().cell)
        if change is not None:
            waiting += change.now.reaches - seen
            seen |= change.now.reaches
    kept = {
        cell: change
        for cell, change in changed.items()
        if not isinstance(cell.owner, Allocation)
        or cell.owner.serial <= since
        or cell.owner.fixed
        or cell.owner in seen
    }
    return kept, frozenset(seen)
