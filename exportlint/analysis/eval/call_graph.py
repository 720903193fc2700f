"""Which calls lead from the modules that are exported to where a fact is met."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from exportlint.analysis.domain.immutable import immutable
from exportlint.analysis.domain.trails import Site, site_of
from exportlint.analysis.facts import Place
from exportlint.syntax.definitions import Class, Module

K = TypeVar("K")

ROOT = 0
"""What calls the entry points."""


@immutable
class Caller:
    """An exported class that reaches a fact outside of its own code.

    `call` is what is called in the class to get there, None where all of the way lies outside of the class, as it does
    for an inherited `forward`. `callee` is the name of the function, and `is_method` says that it is called as an
    attribute.
    """

    definition: Site
    call: Site | None = None
    callee: str = ""
    is_method: bool = False


@immutable
class Root:
    """An exported class: its name in the file, and where it is."""

    name: str
    definition: Site


@immutable
class Call:
    """One way in which a function is called: as in the results that the engine keeps. `home` is the class around it."""

    function: Site
    symbol: str
    home: Site | None
    root: Root | None = None


@immutable
class Step:
    """A call comes from another one, by what is called there: None where that has no place."""

    caller: int
    called: Site | None
    is_method: bool


@dataclass(frozen=True)
class CallRecord:
    """The calls of an analysis, by their numbers: where each of them comes from, and what is met in it."""

    calls: tuple[Call | None, ...] = (None,)
    steps: Mapping[int, tuple[Step, ...]] = field(default_factory=dict)
    met: Mapping[Place, frozenset[int]] = field(default_factory=dict)

    def of(self, root: Site, places: Iterable[Place]) -> CallRecord:
        """The part that the entry points of one class lead to, and of what is met in it, what happens at `places`."""
        starts = [number for number, call in self._all() if call.root is not None and call.root.definition == root]
        kept = sorted(frozenset[int]().union(*(self._reached[number] for number in starts)))
        numbers = {number: index for index, number in enumerate(kept, 1)}
        met = {p: frozenset(numbers[n] for n in self.met[p] if n in numbers) for p in places if p in self.met}
        steps = {
            numbers[number]: tuple(
                replace(step, caller=numbers.get(step.caller, ROOT))
                for step in self.steps[number]
                if step.caller in numbers or step.caller == ROOT
            )
            for number in kept
            if number in self.steps
        }
        return CallRecord((None, *(self.calls[number] for number in kept)), steps, met)

    def callers(self, home: Site | None, place: Place | None) -> tuple[Caller, ...]:
        """The exported classes that reach a place, but `home`, the class around it, in order.

        Where nothing was met, as in a constructor, it is reached by all calls of the class around it.
        """
        starts = self._calls_of(home) if place is None else self.met.get(place, frozenset())
        before = self._before(starts)
        found: dict[Caller, None] = {}
        for number in sorted(before):
            call = self.calls[number]
            if call is not None and call.root is not None and call.root.definition != home:
                found |= dict.fromkeys(self._from(number, call.root.definition, starts, before))
        return tuple(found)

    def functions(self, place: Place) -> frozenset[Site]:
        """The functions in which a place is met."""
        return frozenset(call.function for number in self.met.get(place, ()) if (call := self.calls[number]))

    def roots(self, functions: Collection[Site]) -> frozenset[str]:
        """The exported classes that run some functions."""
        starts = [number for function in functions for number in self._by_function.get(function, ())]
        reached = (self.calls[number] for number in self._before(starts))
        return frozenset(call.root.name for call in reached if call is not None and call.root is not None)

    def _all(self) -> Iterable[tuple[int, Call]]:
        return ((number, call) for number, call in enumerate(self.calls) if call is not None)

    def _calls_of(self, home: Site | None) -> Collection[int]:
        return self._by_home.get(home, ()) if home is not None else ()

    @cached_property
    def _by_function(self) -> Mapping[Site, Collection[int]]:
        return self._grouped(lambda call: call.function)

    @cached_property
    def _by_home(self) -> Mapping[Site | None, Collection[int]]:
        return self._grouped(lambda call: call.home)

    def _grouped(self, key: Callable[[Call], K]) -> dict[K, list[int]]:
        found: dict[K, list[int]] = {}
        for number, call in self._all():
            found.setdefault(key(call), []).append(number)
        return found

    def _before(self, starts: Collection[int]) -> set[int]:
        """The calls that lead to some calls, and these themselves."""
        found, waiting = set(starts), list(starts)
        while waiting:
            for step in self.steps.get(waiting.pop(), ()):
                if step.caller not in found:
                    found.add(step.caller)
                    waiting.append(step.caller)
        return found

    def _from(self, root: int, cls: Site, starts: Collection[int], before: Collection[int]) -> list[Caller]:
        """The calls in the code of a class by which its export gets to some calls, the last one on each way."""
        reached = self._reached[root]
        found: dict[Caller, None] = {}
        seen = {start for start in starts if start in reached}
        waiting = list(seen)
        while waiting:
            number = waiting.pop()
            callee = self.calls[number]
            for step in self.steps.get(number, ()):
                calling = self.calls[step.caller]
                if step.caller not in reached or calling is None or callee is None:
                    continue
                if calling.home == cls:
                    if step.called is not None:
                        found[Caller(cls, step.called, callee.symbol, step.is_method)] = None
                elif step.caller not in seen and step.caller in before:
                    seen.add(step.caller)
                    waiting.append(step.caller)
        return sorted(found, key=_position) or [Caller(cls)]

    @cached_property
    def _reached(self) -> Mapping[int, frozenset[int]]:
        """What each call of an entry point leads to, itself included."""
        calls: dict[int, list[int]] = {}
        for number, steps in self.steps.items():
            for step in steps:
                calls.setdefault(step.caller, []).append(number)
        reached = {}
        for start, call in self._all():
            if call.root is not None:
                found, waiting = {start}, [start]
                while waiting:
                    new = [number for number in calls.get(waiting.pop(), ()) if number not in found]
                    found.update(new)
                    waiting += new
                reached[start] = frozenset(found)
        return reached


def _position(caller: Caller) -> tuple[int, int, int, int, str]:
    call = caller.call
    assert call is not None
    return call.row, call.column, call.end_row, call.end_column, caller.callee


@dataclass(slots=True)
class _Followed:
    """A call while the engine runs."""

    module: Module
    function: ast.AST
    symbol: str
    root: Class | None = None


class CallGraph:
    """The calls that the engine follows, as it follows them. A call that it knows the result of is followed, too."""

    def __init__(self) -> None:
        self.current = ROOT
        self._calls: list[_Followed | None] = [None]
        self._known: dict[object, int] = {}
        self._callers: dict[int, dict[tuple[int, ast.AST], None]] = {}
        self._met: dict[Place, set[int]] = {}

    def begin(self, cls: Class, module: Module, function: ast.AST) -> None:
        """An entry point of a class is called."""
        self.current = self._add(_Followed(module, function, "", cls))

    def enter(self, module: Module, function: ast.AST, symbol: str, node: ast.AST, key: object | None) -> None:
        """A function is called at `node`. `key` is what its result depends on."""
        before = self.current
        number = self._known.get(key) if key is not None else None
        if number is None:
            number = self._add(_Followed(module, function, symbol))
            if key is not None:
                self._known[key] = number
        self._callers.setdefault(number, {})[before, node] = None
        self.current = number

    def again(self, node: ast.AST, key: object) -> None:
        """A function is called at `node` in a way that was followed before."""
        if (number := self._known.get(key)) is not None:
            self._callers.setdefault(number, {})[self.current, node] = None

    def meet(self, place: Place) -> None:
        """Something happens in the call at hand."""
        met = self._met.setdefault(place, set())
        if self.current != ROOT:
            met.add(self.current)

    def record(self) -> CallRecord:
        """What was followed, as plain data."""
        calls: list[Call | None] = []
        for call in self._calls:
            if call is None:
                calls.append(None)
                continue
            root = (
                Root(call.root.qualname, site_of(call.root.module, call.root.node)) if call.root is not None else None
            )
            function = site_of(call.module, call.function)
            calls.append(Call(function, call.symbol, home_of(call.module, function.row), root))
        steps = {
            number: tuple(self._step(caller, node) for caller, node in callers)
            for number, callers in self._callers.items()
        }
        return CallRecord(
            tuple(calls),
            steps,
            {place: frozenset(met) for place, met in self._met.items()},
        )

    def _step(self, caller: int, node: ast.AST) -> Step:
        calling = self._calls[caller]
        called = node.func if isinstance(node, ast.Call) else node
        place = site_of(calling.module, called) if calling is not None and hasattr(called, "lineno") else None
        return Step(caller, place, isinstance(node, ast.Call) and isinstance(called, ast.Attribute))

    def _add(self, call: _Followed) -> int:
        self._calls.append(call)
        return len(self._calls) - 1


def home_of(module: Module, row: int) -> Site | None:
    """The innermost class around a row."""
    cls = module.class_around(row)
    return None if cls is None else site_of(module, cls.node)
