"""What a read of state serves, as far as the code of its function shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args

from exportlint.analysis.domain.accesses import State
from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.eval.state_access import METADATA
from exportlint.analysis.reporting_calls import reports
from exportlint.analysis.state.effects import Effect, Effects, targets
from exportlint.analysis.torch.registry import find
from exportlint.syntax.definitions import FunctionNode
from exportlint.syntax.walk import children, walk

PARTS = frozenset({"get", "setdefault", "copy"})
"""Methods of containers that give what they hold, or a part of it, as it is."""

Change = Literal["same", "changed", "sized"]
CHANGES: tuple[Change, ...] = get_args(Change)
"""What becomes of what is read, for all that is known: nothing, something else, or only the sizes of what it became."""


class Flow(NamedTuple):
    """What is read is written to a cell, as what has become of it before."""

    cell: Cell
    change: Change


OUTPUT = "output"
"""What may reach what the call returns, or something else that the program does."""

Use = Flow | Effect | str
"""`OUTPUT`, where to what is read is written, or what runs or not as it says."""


class _Returned(NamedTuple):
    """A function returns what is followed."""

    change: Change


_Step = Use | _Returned


class Uses:
    """Follows values through the functions that were run, into those that they are passed to and back."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._writes: dict[ast.AST, list[Cell]] = {}
        self._kept: dict[ast.AST, list[Cell]] = {}
        """The writes to buffers, which the program does as well: a branch that is fixed decides about them."""
        for write in state.writes.values():
            self._writes.setdefault(write.node, []).append(write.cell)
            if write.kind == "buffer":
                self._kept.setdefault(write.node, []).append(write.cell)
        self._effects = Effects(state, self._writes)
        self._parents: dict[ast.AST, dict[ast.AST, ast.AST]] = {}
        self._loads: dict[ast.AST, dict[str, list[ast.Name]]] = {}
        """The places of each function where it reads variables, by their names."""
        self._served: dict[tuple[ast.AST, str, Change], frozenset[_Step]] = {}

    def of(self, node: ast.AST, function: ast.AST) -> frozenset[Use]:
        """What the value that `node` reads in `function` serves."""
        return frozenset(self._back(self._follow(node, function, "same", set()), function, set()))

    def _back(
        self, steps: Iterable[_Step], function: ast.AST | None, seen: set[tuple[ast.AST | None, Change]]
    ) -> Iterator[Use]:
        """What values serve, also where calls of the function take what it returns."""
        for step in steps:
            if not isinstance(step, _Returned):
                yield step
                continue
            callers = [] if function is None else list(self._state.callers.get(function, ()))
            if not callers:
                yield OUTPUT
            elif (function, step.change) not in seen:
                seen.add((function, step.change))
                for node, caller in callers:
                    if caller is None or node is caller:  # a decorated `forward` is called at its own definition
                        yield OUTPUT
                        continue
                    yield from self._back(self._follow(node, caller, step.change, set()), caller, seen)

    def _passed(self, argument: ast.AST, call: ast.Call) -> list[tuple[FunctionNode, str]] | None:
        """The parameters that get an argument of a call; None if that is not known."""
        found = []
        callees = self._state.callees.get(call)
        if not callees or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        for definition, is_bound in callees:
            spec = definition.args
            positional = [a.arg for a in (*spec.posonlyargs, *spec.args)][is_bound:]
            if isinstance(argument, ast.keyword):
                names = {a.arg for a in (*spec.args, *spec.kwonlyargs)}
                name = argument.arg if argument.arg in names else None
            else:
                place = next((i for i, node in enumerate(call.args) if node is argument), len(positional))
                name = positional[place] if place < len(positional) else None
            if name is None:
                return None
            found.append((definition, name))
        return found

    def _serves_in(self, definition: FunctionNode, name: str, change: Change) -> frozenset[_Step]:
        """What an argument serves in a function that gets it."""
        key = definition, name, change
        known = self._served.get(key)
        if known is None:
            self._served[key] = frozenset()  # in a recursive call, nothing more
            known = self._served[key] = frozenset(self._follow_name(name, definition, change, set()))
        return known

    def parent(self, node: ast.AST, function: ast.AST) -> ast.AST | None:
        """The node around a node of a function."""
        known = self._parents.get(function)
        if known is None:
            known = self._parents[function] = {child: parent for parent in walk(function) for child in children(parent)}
        return known.get(node)

    def _follow(
        self, node: ast.AST, function: ast.AST, change: Change, seen: set[tuple[ast.AST, Change]]
    ) -> Iterator[_Step]:
        if (node, change) in seen:
            return
        seen.add((node, change))
        parent = self.parent(node, function)
        while parent is not None and isinstance(parent, (ast.expr, ast.keyword, ast.comprehension)):
            if _is_base(node, parent):
                if isinstance(self.parent(parent, function), ast.AugAssign):
                    yield from self._flows(parent, change="changed")
                return
            is_out = isinstance(parent, ast.keyword) and parent.arg == "out"
            if is_out and self.parent(parent, function) in self._writes:
                return  # what it held is replaced
            if parent in self._writes and not (isinstance(parent, ast.Call) and node is parent.func):
                yield from self._flows(parent, change=change)
            around = self.parent(parent, function)
            if reports(parent, around) or (parent in self._state.reports and isinstance(around, ast.Expr)):
                return
            if isinstance(parent, ast.Attribute) and parent.attr in {"dtype", "device"}:
                return  # these stay what they are
            if isinstance(parent, ast.NamedExpr):
                yield from self._follow_name(parent.target.id, function, change, seen)
            if isinstance(parent, ast.comprehension) and isinstance(parent.target, ast.Name):
                yield from self._follow_name(parent.target.id, function, change, seen)
                return
            if isinstance(parent, (ast.Lambda, ast.Yield, ast.YieldFrom)):
                yield OUTPUT
            passed = self._passed(node, parent) if isinstance(parent, ast.Call) and node is not parent.func else None
            if passed is not None and parent not in self._writes:
                steps = [step for definition, name in passed for step in self._serves_in(definition, name, change)]
                yield from (step for step in steps if not isinstance(step, _Returned))
                for each in {step.change for step in steps if isinstance(step, _Returned)}:
                    yield from self._follow(parent, function, each, seen)
                return
            is_choice = isinstance(parent, ast.IfExp) and node is parent.test
            if is_choice:
                change = "same"
            elif change == "changed" and isinstance(parent, ast.Attribute) and _tells_sizes(parent):
                change = "sized"
            elif change == "same" and not self._keeps(node, parent):
                change = "changed"
            node, parent = parent, self.parent(parent, function)
        if parent is not None:
            yield from self._serves(node, parent, function, change, seen)

    def _flows(self, node: ast.AST, *, change: Change) -> Iterator[Use]:
        return (Flow(cell, change) for cell in self._writes.get(node, ()))

    def _keeps(self, node: ast.AST, parent: ast.AST) -> bool:
        """Whether an expression gives a part of it as it is, for all that is known."""
        if isinstance(parent, ast.Call):
            if node is parent.func:
                return isinstance(node, ast.Attribute) and (node.attr in PARTS or find(node.attr).converts)
            return parent in self._state.callees or parent in self._writes
        return not isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.JoinedStr))

    def _serves(
        self, node: ast.AST, statement: ast.AST, function: ast.AST, change: Change, seen: set[tuple[ast.AST, Change]]
    ) -> Iterator[_Step]:
        """What an expression that makes up a statement, or a part of one, serves there."""
        if isinstance(statement, ast.Expr):
            if node not in self._writes and isinstance(node, (ast.Call, ast.Await)):
                yield OUTPUT
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            if change == "same" and isinstance(statement, ast.AugAssign):
                change = "changed"
            for target in targets(statement):
                yield from self._assigned(target, function, change, seen)
        elif isinstance(statement, (ast.If, ast.While)) and node is statement.test:
            inside = [*statement.body, *statement.orelse]
            if self._kept:
                parts = (part for one in inside for part in walk(one))
                yield from (Flow(cell, "same") for part in parts for cell in self._kept.get(part, ()))
            effect = self._effects.of(inside, function)
            if effect is not None:
                yield effect
        elif isinstance(statement, ast.Return):
            yield _Returned(change)
        elif not isinstance(statement, (ast.Raise, ast.Delete)):
            yield OUTPUT

    def _assigned(
        self, target: ast.expr, function: ast.AST, change: Change, seen: set[tuple[ast.AST, Change]]
    ) -> Iterator[_Step]:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                yield from self._assigned(element, function, change, seen)
        elif target in self._writes:
            yield from self._flows(target, change=change)
        elif isinstance(target, ast.Name):
            yield from self._follow_name(target.id, function, change, seen)
        else:
            yield OUTPUT

    def _follow_name(
        self, name: str, function: ast.AST, change: Change, seen: set[tuple[ast.AST, Change]]
    ) -> Iterator[_Step]:
        known = self._loads.get(function)
        if known is None:
            known = self._loads[function] = {}
            for child in walk(function):
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                    known.setdefault(child.id, []).append(child)
        for node in known.get(name, ()):
            yield from self._follow(node, function, change, seen)


def _tells_sizes(attribute: ast.Attribute) -> bool:
    """Whether an attribute of a tensor says something of its sizes, or makes others like it, and not of its data."""
    return attribute.attr in METADATA or attribute.attr.startswith("new_")


def _is_base(node: ast.AST, parent: ast.AST) -> bool:
    """Whether `node` only says what is written: `self.d` in `self.d[k] = v`."""
    if isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is node:
        return isinstance(parent.ctx, (ast.Store, ast.Del))
    return False
