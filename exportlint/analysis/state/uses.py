"""What a read of state serves, as far as the code of its function shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from exportlint.analysis.domain.accesses import State
from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.reporting_calls import reports
from exportlint.analysis.state.effects import OUTPUT, Effects, targets
from exportlint.analysis.torch.registry import find
from exportlint.syntax.definitions import dotted

PARTS = frozenset({"get", "setdefault", "copy"})
"""Methods of containers that give what they hold, or a part of it, as it is."""


class Flow(NamedTuple):
    """What is read is written to a cell; `changed`: for all that is known, something else is made of it before."""

    cell: Cell
    changed: bool


Use = Flow | str
"""`OUTPUT`, or where to what is read is written."""


class Uses:
    """Follows values through the functions that were run."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._writes: dict[ast.AST, list[Cell]] = {}
        for write in state.writes.values():
            self._writes.setdefault(write.node, []).append(write.cell)
        self._effects = Effects(state, self._writes)
        self._parents: dict[ast.AST, dict[ast.AST, ast.AST]] = {}

    def of(self, node: ast.AST, function: ast.AST) -> frozenset[Use]:
        """What the value that `node` reads in `function` serves."""
        return frozenset(self._follow(node, function, False, set()))

    def parent(self, node: ast.AST, function: ast.AST) -> ast.AST | None:
        """The node around a node of a function."""
        known = self._parents.get(function)
        if known is None:
            known = self._parents[function] = {
                child: parent for parent in ast.walk(function) for child in ast.iter_child_nodes(parent)
            }
        return known.get(node)

    def _follow(
        self, node: ast.AST, function: ast.AST, changed: bool, seen: set[tuple[ast.AST, bool]]
    ) -> Iterator[Use]:
        if (node, changed) in seen:
            return
        seen.add((node, changed))
        parent = self.parent(node, function)
        while parent is not None and isinstance(parent, (ast.expr, ast.keyword, ast.comprehension)):
            if _is_base(node, parent):
                if isinstance(self.parent(parent, function), ast.AugAssign):
                    yield from self._flows(parent, changed=True)
                return
            if parent in self._writes and not (isinstance(parent, ast.Call) and node is parent.func):
                yield from self._flows(parent, changed=changed)
            if reports(parent, self.parent(parent, function)):
                return
            if isinstance(parent, ast.Attribute) and parent.attr in {"dtype", "device"}:
                return  # these stay what they are
            if isinstance(parent, ast.NamedExpr):
                yield from self._follow_name(parent.target.id, function, changed, seen)
            if isinstance(parent, ast.comprehension) and isinstance(parent.target, ast.Name):
                yield from self._follow_name(parent.target.id, function, changed, seen)
                return
            if isinstance(parent, (ast.Lambda, ast.Yield, ast.YieldFrom)):
                yield OUTPUT
            is_choice = isinstance(parent, ast.IfExp) and node is parent.test
            changed = not is_choice and (changed or not self._keeps(node, parent))
            node, parent = parent, self.parent(parent, function)
        if parent is not None:
            yield from self._serves(node, parent, function, changed, seen)

    def _flows(self, node: ast.AST, *, changed: bool) -> Iterator[Use]:
        return (Flow(cell, changed) for cell in self._writes.get(node, ()))

    def _keeps(self, node: ast.AST, parent: ast.AST) -> bool:
        """Whether an expression gives a part of it as it is, for all that is known."""
        if isinstance(parent, ast.Call):
            if node is parent.func:
                return isinstance(node, ast.Attribute) and (node.attr in PARTS or find(node.attr).converts)
            name = (dotted(parent.func) or "").rpartition(".")[2]
            return name in self._state.functions or parent in self._writes
        return not isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.JoinedStr))

    def _serves(
        self, node: ast.AST, statement: ast.AST, function: ast.AST, changed: bool, seen: set[tuple[ast.AST, bool]]
    ) -> Iterator[Use]:
        """What an expression that makes up a statement, or a part of one, serves there."""
        if isinstance(statement, ast.Expr):
            if node not in self._writes and isinstance(node, (ast.Call, ast.Await)):
                yield OUTPUT
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            changed = changed or isinstance(statement, ast.AugAssign)
            for target in targets(statement):
                yield from self._assigned(target, function, changed, seen)
        elif isinstance(statement, (ast.If, ast.While)) and node is statement.test:
            if self._effects.of([*statement.body, *statement.orelse], function):
                yield OUTPUT
        elif not isinstance(statement, (ast.Raise, ast.Delete)):
            yield OUTPUT

    def _assigned(
        self, target: ast.expr, function: ast.AST, changed: bool, seen: set[tuple[ast.AST, bool]]
    ) -> Iterator[Use]:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                yield from self._assigned(element, function, changed, seen)
        elif target in self._writes:
            yield from self._flows(target, changed=changed)
        elif isinstance(target, ast.Name):
            yield from self._follow_name(target.id, function, changed, seen)
        else:
            yield OUTPUT

    def _follow_name(
        self, name: str, function: ast.AST, changed: bool, seen: set[tuple[ast.AST, bool]]
    ) -> Iterator[Use]:
        for child in ast.walk(function):
            if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load):
                yield from self._follow(child, function, changed, seen)


def _is_base(node: ast.AST, parent: ast.AST) -> bool:
    """Whether `node` only says what is written: `self.d` in `self.d[k] = v`."""
    if isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is node:
        return isinstance(parent.ctx, (ast.Store, ast.Del))
    return False
