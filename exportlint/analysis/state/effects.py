"""Whether it matters that statements are run, apart from the state that they write."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from exportlint.analysis.domain.accesses import State
from exportlint.analysis.reporting_calls import reports
from exportlint.syntax.definitions import TRIES, FunctionNode
from exportlint.syntax.walk import walk


class Effect(NamedTuple):
    """A statement in a function that the program feels, whatever state it writes."""

    statement: ast.stmt
    function: ast.AST


HARMLESS = (ast.Pass, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Continue, ast.Break)


class Effects:
    """Judges statements. State that they write says for itself what it serves; `writes` are the nodes that do."""

    def __init__(self, state: State, writes: Mapping[ast.AST, object]) -> None:
        self._state = state
        self._writes = writes

    def of(
        self, body: Iterable[ast.stmt], function: ast.AST, callers: frozenset[ast.AST] = frozenset()
    ) -> Effect | None:
        """The first that something besides written state and reports depends on, of statements of a function.

        `callers`: what leads here, itself judged; nothing is told of the values that such functions return.
        """
        statements = list(body)
        inside = {child for statement in statements for child in walk(statement)}
        return self._first(statements, function, inside, callers)

    def _first(
        self, statements: Iterable[ast.stmt], function: ast.AST, inside: set[ast.AST], callers: frozenset[ast.AST]
    ) -> Effect | None:
        found = (self._effect(statement, function, inside, callers) for statement in statements)
        return next((effect for effect in found if effect is not None), None)

    def _effect(
        self, statement: ast.stmt, function: ast.AST, inside: set[ast.AST], callers: frozenset[ast.AST]
    ) -> Effect | None:
        itself = Effect(statement, function)
        if isinstance(statement, (ast.If, ast.With)):
            parts = [*statement.body, *(statement.orelse if isinstance(statement, ast.If) else ())]
            return self._first(parts, function, inside, callers)
        if isinstance(statement, TRIES):
            parts = [*statement.body, *(s for h in statement.handlers for s in h.body), *statement.orelse]
            return self._first(parts, function, inside, callers)
        if isinstance(statement, (ast.For, ast.While)):
            return self._first([*statement.body, *statement.orelse], function, inside, callers) or itself
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            local = inside if function not in callers else None
            is_local = all(t in self._writes or _stays(t, function, local) for t in targets(statement))
            return None if is_local else itself
        if isinstance(statement, ast.Expr):
            is_report = statement.value in self._state.reports or reports(statement.value, statement)
            return None if is_report else self._of_value(statement.value, itself, callers)
        if isinstance(statement, ast.Return) and statement.value is None and isinstance(function, FunctionNode):
            # what is left out then is the rest of the function
            return None if function in callers else self.of(function.body, function, callers | {function})
        return None if isinstance(statement, HARMLESS) else itself

    def _of_value(self, node: ast.expr, itself: Effect, callers: frozenset[ast.AST]) -> Effect | None:
        """What matters of evaluating an expression whose value nobody takes."""
        if not isinstance(node, ast.Call) or node in self._writes:
            return None
        judged = [callee.definition for callee in self._state.callees.get(node, ())]
        found = (self.of(d.body, d, callers | {d}) for d in judged if d not in callers)
        return next((effect for effect in found if effect is not None), None) if judged else itself


def _stays(target: ast.expr, function: ast.AST, inside: set[ast.AST] | None) -> bool:
    """Whether a variable is read in nothing but the statements at hand. In one that is judged as a whole it is."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_stays(element, function, inside) for element in target.elts)
    if not isinstance(target, ast.Name):
        return False
    return inside is None or not any(
        isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load) and n not in inside
        for n in walk(function)
    )


def targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[ast.expr]:
    """What a statement assigns to."""
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]
