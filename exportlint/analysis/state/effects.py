"""Whether it matters that statements are run, apart from the state that they write."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from exportlint.analysis.domain.accesses import State
from exportlint.analysis.reporting_calls import reports
from exportlint.syntax.definitions import TRIES, FunctionNode
from exportlint.syntax.walk import walk

OUTPUT = "output"
"""What may reach what the call returns, or something else that the program does."""

HARMLESS = (ast.Pass, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Continue, ast.Break)


class Effects:
    """Judges statements. State that they write says for itself what it serves; `writes` are the nodes that do."""

    def __init__(self, state: State, writes: Mapping[ast.AST, object]) -> None:
        self._state = state
        self._writes = writes

    def of(self, body: Iterable[ast.stmt], function: ast.AST, callers: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether anything but written state and reports depends on statements of a function being run.

        `callers`: what leads here, itself judged; nothing is told of the values that such functions return.
        """
        statements = list(body)
        inside = {child for statement in statements for child in walk(statement)}
        return any(self._matters(statement, function, inside, callers) for statement in statements)

    def _matters(
        self, statement: ast.stmt, function: ast.AST, inside: set[ast.AST], callers: frozenset[ast.AST]
    ) -> bool:
        if isinstance(statement, (ast.If, ast.With)):
            parts = [*statement.body, *(statement.orelse if isinstance(statement, ast.If) else ())]
            return any(self._matters(part, function, inside, callers) for part in parts)
        if isinstance(statement, TRIES):
            parts = [*statement.body, *(s for h in statement.handlers for s in h.body), *statement.orelse]
            return any(self._matters(part, function, inside, callers) for part in parts)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            local = inside if function not in callers else None
            return not all(t in self._writes or _stays(t, function, local) for t in targets(statement))
        if isinstance(statement, ast.Expr):
            is_report = statement.value in self._state.reports or reports(statement.value, statement)
            return not is_report and self._is_felt(statement.value, callers)
        if isinstance(statement, ast.Return) and statement.value is None and isinstance(function, FunctionNode):
            # what is left out then is the rest of the function
            return function not in callers and self.of(function.body, function, callers | {function})
        return not isinstance(statement, HARMLESS)

    def _is_felt(self, node: ast.expr, callers: frozenset[ast.AST]) -> bool:
        """Whether it matters that an expression is evaluated, whose value nobody takes."""
        if not isinstance(node, ast.Call) or node in self._writes:
            return False
        judged = [callee.definition for callee in self._state.callees.get(node, ())]
        return not judged or any(self.of(d.body, d, callers | {d}) for d in judged if d not in callers)


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
