"""Which calls lead from the modules that are exported to where a fact is met."""

from __future__ import annotations

import ast
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass

from exportlint.analysis.outline import Class, Module
from exportlint.analysis.trail import Site, site_of

ROOT = 0
"""What calls the entry points."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An exported class that reaches a fact outside of its own code.

    `call` is the expression in the class that leads there, and `callee` the function that it calls; None and empty
    where all of the way lies outside of the class, as it does for an inherited `forward`.
    """

    definition: Site
    call: Site | None = None
    callee: str = ""


@dataclass(frozen=True, slots=True)
class _Call:
    """One way in which a function is called: as in the results that the engine keeps."""

    module: Module
    function: ast.AST
    symbol: str
    root: Class | None = None


class CallGraph:
    """The calls that the engine follows, as it follows them. A call that it knows the result of is followed, too."""

    def __init__(self) -> None:
        self.current = ROOT
        self._calls: list[_Call | None] = [None]
        self._known: dict[Hashable, int] = {}
        self._callers: dict[int, set[tuple[int, ast.AST]]] = {}
        self._met: dict[Hashable, set[int]] = {}
        self._homes: dict[Module, dict[int, Class]] = {}
        self._by_home: dict[Class | None, list[int]] = {}
        self._reached: dict[int, frozenset[int]] = {}

    def begin(self, cls: Class, module: Module, function: ast.AST) -> None:
        """An entry point of a class is called."""
        self.current = self._add(_Call(module, function, "", cls))

    def enter(self, module: Module, function: ast.AST, symbol: str, node: ast.AST, key: Hashable | None) -> None:
        """A function is called at `node`. `key` is what its result depends on."""
        before = self.current
        number = self._known.get(key) if key is not None else None
        if number is None:
            number = self._add(_Call(module, function, symbol))
            if key is not None:
                self._known[key] = number
        self._callers.setdefault(number, set()).add((before, node))
        self.current = number

    def again(self, node: ast.AST, key: Hashable) -> None:
        """A function is called at `node` in a way that was followed before."""
        if (number := self._known.get(key)) is not None:
            self._callers.setdefault(number, set()).add((self.current, node))

    def meet(self, what: Hashable) -> None:
        """Something happens in the call at hand."""
        if self.current != ROOT:
            self._met.setdefault(what, set()).add(self.current)

    def callers(self, module: Module, site: Site, *met: Hashable) -> tuple[Caller, ...]:
        """The exported classes that reach a site, but that in whose code it stands, in order.

        `met` are what may have been met there; where nothing was, as in a constructor, it is reached by all calls of
        the class around it.
        """
        home = self._home(module, site.row)
        starts = next((calls for what in met if (calls := self._met.get(what))), None) or self._calls_of(home)
        before = self._before(starts)
        found: dict[Caller, None] = {}
        for number in sorted(before):
            call = self._calls[number]
            if call is not None and call.root is not None and call.root is not home:
                found |= dict.fromkeys(self._from(number, call.root, starts, before))
        return tuple(found)

    def _add(self, call: _Call) -> int:
        self._calls.append(call)
        return len(self._calls) - 1

    def _all(self) -> Iterable[tuple[int, _Call]]:
        return ((number, call) for number, call in enumerate(self._calls) if call is not None)

    def _calls_of(self, home: Class | None) -> Collection[int]:
        if not self._by_home:
            for number, call in self._all():
                self._by_home.setdefault(self._home_of(call), []).append(number)
        return self._by_home.get(home, ()) if home is not None else ()

    def _before(self, starts: Collection[int]) -> set[int]:
        """The calls that lead to some calls, and these themselves."""
        found, waiting = set(starts), list(starts)
        while waiting:
            for caller, _ in self._callers.get(waiting.pop(), ()):
                if caller not in found:
                    found.add(caller)
                    waiting.append(caller)
        return found

    def _from(self, root: int, cls: Class, starts: Collection[int], before: Collection[int]) -> list[Caller]:
        """The calls in the code of a class by which its export gets to some calls, the last one on each way."""
        reached = self._reached_by(root)
        places: dict[tuple[ast.AST, str], Module] = {}
        seen = {start for start in starts if start in reached}
        waiting = list(seen)
        while waiting:
            number = waiting.pop()
            callee = self._calls[number]
            for caller, node in self._callers.get(number, ()):
                calling = self._calls[caller]
                if caller not in reached or calling is None or callee is None:
                    continue
                if self._home_of(calling) is cls:
                    places[node, callee.symbol] = calling.module
                elif caller not in seen and caller in before:
                    seen.add(caller)
                    waiting.append(caller)
        definition = site_of(cls.module, cls.node)
        calls = [
            Caller(definition, site_of(module, _called(node)), _callee(node, symbol))
            for (node, symbol), module in places.items()
            if hasattr(node, "lineno")
        ]
        return sorted(calls, key=lambda caller: (caller.call.row, caller.call.column) if caller.call else (0, 0)) or [
            Caller(definition)
        ]

    def _reached_by(self, root: int) -> frozenset[int]:
        if root not in self._reached:
            calls: dict[int, list[int]] = {}
            for number, callers in self._callers.items():
                for caller, _ in callers:
                    calls.setdefault(caller, []).append(number)
            for start, call in self._all():
                if call.root is not None:
                    found, waiting = {start}, [start]
                    while waiting:
                        new = [n for n in calls.get(waiting.pop(), ()) if n not in found]
                        found.update(new)
                        waiting += new
                    self._reached[start] = frozenset(found)
        return self._reached[root]

    def _home_of(self, call: _Call) -> Class | None:
        return self._home(call.module, getattr(call.function, "lineno", 0))

    def _home(self, module: Module, row: int) -> Class | None:
        """The innermost class around a row."""
        if module not in self._homes:
            self._homes[module] = {
                line: cls
                for cls in module.classes
                for line in range(cls.node.lineno, (cls.node.end_lineno or cls.node.lineno) + 1)
            }
        return self._homes[module].get(row)


def _called(node: ast.AST) -> ast.AST:
    return node.func if isinstance(node, ast.Call) else node


def _callee(node: ast.AST, symbol: str) -> str:
    """What people call a function that is called: a function as the code does, a method with its class."""
    if "." not in symbol and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        shown = ast.unparse(node.func)
        if shown.rpartition(".")[2] == symbol and len(shown) <= 60:
            return shown
    return symbol
