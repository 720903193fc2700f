"""Which code writes to a tensor in place, as far as its form tells.

`writes` finds the nodes that write, `written` what one of them writes to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.torch.registry import find


def written(node: ast.AST) -> ast.expr | None:
    """The expression whose tensor a node writes to, without the subscripts and views behind it."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return _base(node.value)
    if isinstance(node, ast.AugAssign):
        return _base(node.target)
    if isinstance(node, ast.keyword) and node.arg == "out":
        return _base(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name.endswith("_") and not name.endswith("__"):
            return _base(node.func.value)
    return None


def writes(place: ast.AST, target: ast.expr) -> Iterator[ast.AST]:
    """The nodes of a piece of code that write to what an expression names."""
    wanted = ast.unparse(target)
    for node in ast.walk(place):
        found = written(node)
        if found is not None and ast.unparse(found) == wanted:
            yield node


def _base(node: ast.expr) -> ast.expr:
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_view(node.func.attr):
            node = node.func.value
        else:
            return node


def _is_view(method: str) -> bool:
    return find(method).storage == "view"
