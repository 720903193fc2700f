"""What becomes of the variables around a statement."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from exportlint.fixes.edit.code import Code

_LOOPS = (ast.For, ast.While, ast.AsyncFor)


def read_later(code: Code, statement: ast.stmt, name: str) -> bool:
    """Whether code that may run behind a statement reads a variable of the function."""
    function = code.tree.function(statement)
    if function is None:
        return True
    loop = next((n for n in code.tree.ancestors(statement) if isinstance(n, (*_LOOPS, type(function)))), None)
    if name in code.tree.contents(function).declared():
        return True
    inside = set(ast.walk(statement))
    if any(node not in inside for node in _reads_from(code, function, name, _end(statement))):
        return True
    if not isinstance(loop, _LOOPS):
        return False
    if any(node not in inside and _is_read(code, node) for node in code.tree.contents(loop).named(name)):
        return True
    return any(
        isinstance(n, ast.Name) and n.id == name
        for n in ast.walk(loop.iter if not isinstance(loop, ast.While) else loop.test)
    )


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or 0, statement.end_col_offset or 0


def _reads_from(code: Code, function: ast.AST, name: str, end: tuple[int, int]) -> Iterator[ast.Name]:
    """Where a function reads a variable behind a place, the last one first."""
    for node in reversed(code.tree.once(_in_order, function).get(name, ())):
        if _start(node) < end:
            return
        if _is_read(code, node):
            yield node


def _in_order(function: ast.AST) -> dict[str, list[ast.Name]]:
    """Where each variable stands in a function, in the order of the text."""
    found: dict[str, list[ast.Name]] = {}
    for node in sorted((n for n in ast.walk(function) if isinstance(n, ast.Name)), key=_start):
        found.setdefault(node.id, []).append(node)
    return found


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _is_read(code: Code, node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Store) or isinstance(code.tree.parents.get(node), ast.AugAssign)


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
