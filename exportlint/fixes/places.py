"""How tightly an expression must bind to stand at a place without parentheses."""

from __future__ import annotations

import ast

from exportlint.fixes.precedence import Precedence, precedence
from exportlint.fixes.tree import Tree


def demanded(tree: Tree, node: ast.expr) -> Precedence:
    """What the place of an expression asks of another one that is put there."""
    match tree.parents[node]:
        case ast.BinOp(left=left, op=ast.Pow()):
            return Precedence.AWAIT if node is left else Precedence.UNARY
        case ast.BinOp(left=left) as parent:
            return precedence(parent) if node is left else Precedence(precedence(parent) + 1)
        case ast.UnaryOp() as parent:
            return precedence(parent)
        case ast.BoolOp() | ast.Compare() as parent:
            return Precedence(precedence(parent) + 1)
        case ast.IfExp(orelse=orelse):
            return Precedence.TERNARY if node is orelse else Precedence.OR
        case ast.Attribute(value=owner) | ast.Call(func=owner) | ast.Subscript(value=owner) if owner is node:
            return Precedence.ATOM
        case ast.Starred() | ast.comprehension():
            return Precedence.BIT_OR
        case ast.Assign() | ast.Return() | ast.Expr() | ast.Subscript():
            return Precedence.TUPLE
    return Precedence.TERNARY


def enclosed(text: str, place: Precedence) -> str:
    """The source of an expression, in parentheses if it needs them at a place."""
    node = ast.parse(f"({text}\n)", mode="eval").body
    is_bare = isinstance(node, ast.Tuple) and not text.startswith("(")
    return f"({text})" if (Precedence.TUPLE if is_bare else precedence(node)) < place else text
