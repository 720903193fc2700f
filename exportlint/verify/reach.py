"""Whether the code that a fix is about ran."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from exportlint.findings import Span

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def ran(tree: ast.Module, rows: Collection[int], span: Span) -> bool:
    """Whether the statement at a span ran, where `rows` are those of the file that ran in a call of the model.

    The call does not run the constructor and what else makes classes and modules: that ran if anything of the class, or
    of the file, did.
    """
    row = span.start.row
    scopes = list(_scopes(tree, row))
    inner = scopes[-1] if scopes else tree
    makes = isinstance(inner, ast.Module | ast.ClassDef)
    if isinstance(inner, ast.FunctionDef) and inner.name == "__init__" and len(scopes) > 1:
        inner, makes = scopes[-2], True
    if makes:
        return any(_first(inner) <= known <= _last(inner) for known in rows)
    if row < inner.body[0].lineno:  # its parameters
        return any(inner.body[0].lineno <= known <= _last(inner) for known in rows)
    first, last = _statement(inner, row)
    return any(first <= known <= last for known in rows)


def _scopes(node: ast.AST, row: int) -> Iterator[_Scope]:
    """The classes and functions around a row, an outer one before those in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and not child.lineno <= row <= (child.end_lineno or row):
            continue
        if isinstance(child, _Scope):
            yield child
        if not isinstance(child, ast.expr):
            yield from _scopes(child, row)


def _statement(scope: ast.AST, row: int) -> tuple[int, int]:
    """The rows of the innermost statement at a row; of one that has a body only those before it."""
    found = 1, row
    for node in ast.walk(scope):
        if isinstance(node, ast.stmt) and node.lineno <= row <= (node.end_lineno or row):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or row
            if node.lineno >= found[0]:
                found = node.lineno, max(last, node.lineno)
    return found


def _first(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)


def _last(node: ast.AST) -> int:
    return getattr(node, "end_lineno", None) or 10**9
