"""What a read of state serves, as far as the code of its function shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from exportlint.analysis.outline import FunctionNode, dotted
from exportlint.analysis.state.cells import Cell, State

OUTPUT = "output"
"""What is read may reach what the call returns, or something else that the program does."""

Use = Cell | str
"""`OUTPUT`, or the cell that what is read is written to."""

REPORTS = frozenset({
    "print", "warn", "warn_once", "warning_once", "info_once", "debug", "info", "warning", "error", "critical",
    "exception", "warning_advice",
})  # fmt: skip
"""Functions and methods that tell people something."""

HARMLESS = (ast.Pass, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Continue, ast.Break)


class Uses:
    """Follows values through the functions that were run."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._writes: dict[ast.AST, list[Cell]] = {}
        for write in state.writes.values():
            self._writes.setdefault(write.node, []).append(write.cell)
        self._parents: dict[ast.AST, dict[ast.AST, ast.AST]] = {}

    def of(self, node: ast.AST, function: ast.AST) -> frozenset[Use]:
        """What the value that `node` reads in `function` serves."""
        return frozenset(self._follow(node, function, set()))

    def parent(self, node: ast.AST, function: ast.AST) -> ast.AST | None:
        """The node around a node of a function."""
        known = self._parents.get(function)
        if known is None:
            known = self._parents[function] = {
                child: parent for parent in ast.walk(function) for child in ast.iter_child_nodes(parent)
            }
        return known.get(node)

    def _follow(self, node: ast.AST, function: ast.AST, seen: set[ast.AST]) -> Iterator[Use]:
        if node in seen:
            return
        seen.add(node)
        parent = self.parent(node, function)
        while parent is not None and isinstance(parent, (ast.expr, ast.keyword, ast.comprehension)):
            if self._is_base(node, parent):
                if isinstance(self.parent(parent, function), ast.AugAssign):
                    yield from self._writes.get(parent, ())
                return
            if parent in self._writes and not (isinstance(parent, ast.Call) and node is parent.func):
                yield from self._writes[parent]
            if isinstance(parent, ast.Call) and _reports(parent):
                return
            if isinstance(parent, ast.NamedExpr):
                yield from self._follow_name(parent.target.id, function, seen)
            if isinstance(parent, (ast.Lambda, ast.Yield, ast.YieldFrom)):
                yield OUTPUT
            node, parent = parent, self.parent(parent, function)
        if parent is not None:
            yield from self._serves(node, parent, function, seen)

    def _is_base(self, node: ast.AST, parent: ast.AST) -> bool:
        """Whether `node` only says what is written: `self.d` in `self.d[k] = v`."""
        if isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is node:
            return isinstance(parent.ctx, (ast.Store, ast.Del))
        return False

    def _serves(self, node: ast.AST, statement: ast.AST, function: ast.AST, seen: set[ast.AST]) -> Iterator[Use]:
        """What an expression that makes up a statement, or a part of one, serves there."""
        if isinstance(statement, ast.Expr):
            if node not in self._writes and isinstance(node, (ast.Call, ast.Await)):
                yield OUTPUT
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            for target in _targets(statement):
                yield from self._assigned(target, function, seen)
        elif isinstance(statement, (ast.If, ast.While)) and node is statement.test:
            yield from self._effects([*statement.body, *statement.orelse], function, {statement})
        elif not isinstance(statement, (ast.Raise, ast.Delete)):
            yield OUTPUT

    def _assigned(self, target: ast.expr, function: ast.AST, seen: set[ast.AST]) -> Iterator[Use]:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                yield from self._assigned(element, function, seen)
        elif target in self._writes:
            yield from self._writes[target]
        elif isinstance(target, ast.Name):
            yield from self._follow_name(target.id, function, seen)
        else:
            yield OUTPUT

    def _follow_name(self, name: str, function: ast.AST, seen: set[ast.AST]) -> Iterator[Use]:
        for child in ast.walk(function):
            if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load):
                yield from self._follow(child, function, seen)

    def _effects(self, body: Iterable[ast.stmt], function: ast.AST, seen: set[ast.AST]) -> Iterator[Use]:
        """What changes when statements are run or not. State that they write says for itself what it serves."""
        for statement in body:
            if isinstance(statement, ast.If):
                yield from self._effects([*statement.body, *statement.orelse], function, seen)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                if not all(t in self._writes or self._stays_in(t, seen, function) for t in _targets(statement)):
                    yield OUTPUT
            elif isinstance(statement, ast.Expr):
                yield from self._called(statement.value, seen)
            elif not isinstance(statement, HARMLESS):
                yield OUTPUT

    def _called(self, node: ast.expr, seen: set[ast.AST]) -> Iterator[Use]:
        """What a call does whose result nobody takes."""
        if not isinstance(node, ast.Call) or node in self._writes or _reports(node):
            return
        name = (dotted(node.func) or "").rpartition(".")[2]
        found = self._state.functions.get(name, {})
        if not found:
            yield OUTPUT
        for definition in found:
            if definition not in seen and isinstance(definition, FunctionNode):
                seen.add(definition)
                yield from self._effects(definition.body, definition, seen)

    def _stays_in(self, target: ast.expr, seen: set[ast.AST], function: ast.AST) -> bool:
        """Whether a variable is read in nothing but the statements or functions at hand."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(self._stays_in(element, seen, function) for element in target.elts)
        if not isinstance(target, ast.Name):
            return False
        inside = {n for statement in seen if not isinstance(statement, FunctionNode) for n in ast.walk(statement)}
        if function in seen:
            return True
        return not any(
            isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load) and n not in inside
            for n in ast.walk(function)
        )


def _targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def _reports(node: ast.Call) -> bool:
    owner, _, name = (dotted(node.func) or "").rpartition(".")
    return name in REPORTS or (name == "log" and (owner == "self" or "log" in owner.lower()))
