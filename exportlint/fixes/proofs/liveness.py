"""What becomes of the variables around a statement."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.fixes.edit.code import Code

_LOOPS = (ast.For, ast.While, ast.AsyncFor)


def read_later(code: Code, statement: ast.stmt, name: str) -> bool:
    """Whether code that may run behind a statement reads a variable of the function."""
    function = code.tree.function(statement)
    if function is None:
        return True
    loop = next((n for n in code.tree.ancestors(statement) if isinstance(n, (*_LOOPS, type(function)))), None)
    end = (statement.end_lineno or 0, statement.end_col_offset or 0)
    inside = set(ast.walk(statement))
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return True
        if not isinstance(node, ast.Name) or node.id != name or node in inside:
            continue
        augmented = isinstance(code.tree.parents.get(node), ast.AugAssign)
        if isinstance(node.ctx, ast.Store) and not augmented:
            continue
        if (node.lineno, node.col_offset) >= end or (isinstance(loop, _LOOPS) and _is_in(code, node, loop)):
            return True
    return isinstance(loop, _LOOPS) and any(
        isinstance(n, ast.Name) and n.id == name
        for n in ast.walk(loop.iter if not isinstance(loop, ast.While) else loop.test)
    )


def _is_in(code: Code, node: ast.AST, loop: ast.AST) -> bool:
    return any(around is loop for around in code.tree.ancestors(node))


def is_bound(code: Code, name: str, *, maybe: bool = False) -> bool:
    """Whether a variable surely has a value at the finding; `maybe` asks whether it can have one."""
    found = [snapshot.variable(name) is not None for snapshot in code.observed.snapshots]
    return (any(found) or not found) if maybe else (bool(found) and all(found))


def assigned(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables that statements bind."""
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))
    }
