"""What expressions are like by their source alone."""

from __future__ import annotations

import ast


def is_repeatable(node: ast.expr) -> bool:
    """Whether an expression can be evaluated twice: `x`, `self.size`, `x.shape[0]`."""
    if isinstance(node, (ast.Attribute, ast.UnaryOp)):
        return is_repeatable(node.value if isinstance(node, ast.Attribute) else node.operand)
    if isinstance(node, ast.Subscript):
        return is_repeatable(node.value) and is_repeatable(node.slice)
    return isinstance(node, (ast.Name, ast.Constant))
