"""How tightly an expression binds: whether it needs parentheses where it is put."""

from __future__ import annotations

import ast

from exportlint.fixes.edit.parentheses import Precedence

__all__ = ["Precedence", "of_operator", "precedence"]

_OPERATORS: dict[type[ast.operator], Precedence] = {
    ast.BitOr: Precedence.BIT_OR,
    ast.BitXor: Precedence.BIT_XOR,
    ast.BitAnd: Precedence.BIT_AND,
    ast.LShift: Precedence.SHIFT,
    ast.RShift: Precedence.SHIFT,
    ast.Add: Precedence.SUM,
    ast.Sub: Precedence.SUM,
    ast.Pow: Precedence.POWER,
}
_NODES: dict[type[ast.expr], Precedence] = {
    ast.NamedExpr: Precedence.WALRUS,
    ast.Starred: Precedence.ARGUMENT,
    ast.Lambda: Precedence.TERNARY,
    ast.IfExp: Precedence.TERNARY,
    ast.Compare: Precedence.COMPARISON,
    ast.Await: Precedence.AWAIT,
    ast.Yield: Precedence.TUPLE,
    ast.YieldFrom: Precedence.TUPLE,
}


def of_operator(operator: ast.operator) -> Precedence:
    """Of an expression that is made with a binary operator."""
    return _OPERATORS.get(type(operator), Precedence.PRODUCT)


def precedence(node: ast.expr) -> Precedence:
    """Of an expression as it stands in the source, without parentheses around it."""
    if isinstance(node, ast.BoolOp):
        return Precedence.OR if isinstance(node.op, ast.Or) else Precedence.AND
    if isinstance(node, ast.UnaryOp):
        return Precedence.NOT if isinstance(node.op, ast.Not) else Precedence.UNARY
    if isinstance(node, ast.BinOp):
        return of_operator(node.op)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return Precedence.AWAIT  # `1.real` is no attribute
    return _NODES.get(type(node), Precedence.ATOM)
