"""Whether the code that a finding or a fix is about ran."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from exportlint.findings import Position, Span
from exportlint.source import LineIndex

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


def may_be_skipped(tree: ast.Module, lines: LineIndex, span: Span) -> bool:
    """Whether a statement may run without all of what stands at a span: a part that other parts of it decide about.

    So it is with the branches of a conditional expression, all but the first operand of `and` and `or`, the items and
    conditions of a comprehension, and the body of a `lambda`. If operands stand in the span itself, any may be meant.
    """
    node: ast.AST = tree
    while True:
        inner = _child_at(node, lines, span.start, span.end)
        if inner is None:
            while isinstance(node, ast.UnaryOp):
                node = node.operand
            return isinstance(node, ast.BoolOp | ast.IfExp)
        if inner in _decided(node):
            return True
        node = inner


def _child_at(node: ast.AST, lines: LineIndex, start: Position, end: Position) -> ast.AST | None:
    """The part of a node that has all of a span; None if none has, or it is not in one part."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension | ast.arguments | ast.keyword | ast.match_case | ast.withitem):
            found = _child_at(child, lines, start, end)
            if found is not None:
                return found
        elif isinstance(child, ast.stmt | ast.expr | ast.excepthandler):
            at = lines.span_of(child)
            if at.start <= start and end <= at.end:
                return child
    return None


def _decided(node: ast.AST) -> list[ast.AST]:
    """The direct parts of an expression that may not be evaluated although the expression is."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return list(node.values[1:])
    if isinstance(node, ast.Lambda):
        return [node.body]
    if isinstance(node, ast.DictComp):
        return [node.key, node.value, *_later(node)]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [node.elt, *_later(node)]
    return []


def _later(node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Iterator[ast.AST]:
    """The conditions of a comprehension, and what it goes over in each round."""
    for generator in node.generators:
        yield from generator.ifs
    yield from (generator.iter for generator in node.generators[1:])


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
