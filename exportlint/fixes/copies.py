"""Copies of what the caller passed, in front of the code that changes it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from exportlint.analysis.outline import FunctionNode
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.statements import Draft, is_docstring


def copy_first(code: Code, function: FunctionNode, text: str, changes: Sequence[ast.AST], *, early: bool) -> Draft:
    """A statement in front of the first of the nodes in a function that change something, and outside of loops.

    `early`: at the beginning of the function, since something before may hold on to what is changed.
    """
    first = min(changes, key=lambda node: (node.lineno, node.col_offset))  # type: ignore[attr-defined]
    place = code.tree.statement(first)
    while code.tree.parents[place] is not function:
        reached = {n for s in (place, *code.tree.following(place)) for n in ast.walk(s)}
        if not early and not _is_repeated(code, place, function) and all(change in reached for change in changes):
            break
        place = code.tree.statement(code.tree.parents[place])
    if early:
        place = next((s for s in function.body if not is_docstring(s)), place)
    return code.statements.insert_before(place, [text])


def parameter(code: Code, node: ast.AST | None) -> tuple[FunctionNode, str]:
    """The function that a parameter belongs to, and its name. Raises DeclinedError for any other node."""
    function = code.tree.function(node) if isinstance(node, ast.arg) and node in code.tree.parents else None
    if not isinstance(node, ast.arg) or function is None:
        raise DeclinedError("it is no parameter of a function in this file")
    return function, node.arg


def is_read_before(function: FunctionNode, name: str, statement: ast.stmt) -> bool:
    """Whether a variable is read in front of a statement, so that another name may stand for the same."""
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and _precedes(node, statement)
        for node in ast.walk(function)
    )


def _precedes(node: ast.Name, statement: ast.stmt) -> bool:
    return (node.lineno, node.col_offset) < (statement.lineno, statement.col_offset)


def _is_repeated(code: Code, statement: ast.stmt, function: FunctionNode) -> bool:
    for around in code.tree.ancestors(statement):
        if around is function:
            return False
        if isinstance(around, (ast.For, ast.AsyncFor, ast.While, FunctionNode)):
            return True
    return True
