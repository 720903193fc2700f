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
        case ast.Await():
            return Precedence.ATOM
        case ast.Starred() | ast.comprehension() | ast.keyword(arg=None):
            return Precedence.BIT_OR
        case ast.Dict(keys=keys, values=values) if (None, node) in zip(keys, values, strict=True):
            return Precedence.BIT_OR
        case ast.Call() | ast.keyword() | ast.ClassDef() | ast.List() | ast.Set() | ast.Dict():
            return Precedence.ARGUMENT
        case ast.Assign() | ast.AugAssign() | ast.Return() | ast.Expr() | ast.Subscript() | ast.Yield():
            return Precedence.TUPLE
    return Precedence.TERNARY


def enclosed(text: str, place: Precedence) -> str:
    """The source of an expression, in parentheses if it needs them at a place."""
    try:
        node = ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:  # such as `*x`
        return text
    if (node.lineno, node.col_offset) > (1, 1):  # it is in parentheses
        return text
    # A tuple or a generator without parentheses takes those around it.
    binds = Precedence.TUPLE if node.col_offset == 0 else precedence(node)
    return f"({text})" if binds < place or (place != Precedence.ARGUMENT and is_open(text)) else text


def is_expression(text: str) -> bool:
    """Whether source may stand in parentheses, unlike a slice or `*x`."""
    try:
        ast.parse(f"({text}\n)", mode="eval")
    except SyntaxError:
        return False
    return True


def is_open(text: str) -> bool:
    """Whether an expression is of several lines that only brackets around it hold together."""
    if "\n" not in text and "\r" not in text:
        return False
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return True
    return False


def is_enclosed(text: str) -> bool:
    """Whether one pair of parentheses is around all of an expression."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    try:
        ast.parse(f"({text[1:-1]}\n)", mode="eval")
    except SyntaxError:
        return False
    return True


def spaced(text: str, before: str, behind: str) -> str:
    """Source that is put between two characters, with the blanks that keep words apart: `return-x`, `[y]if x`."""
    lead = " " if _is_word(before) and (_is_word(text[:1]) or text[:1] in {"'", '"'}) else ""
    return f"{lead}{text}{' ' if _is_word(text[-1:]) and _is_word(behind) else ''}"


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
