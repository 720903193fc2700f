"""How much a mask selects, asked of the mask itself: `mask.nonzero().size(0) > 0` is `mask.any()`."""

from __future__ import annotations

import ast

from exportlint.analysis.values import Const, Tensor
from exportlint.fixes.code import Code
from exportlint.fixes.numbers import called, is_method
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.source_text import Piece, joined, method, piece

MIRRORED: dict[type[ast.cmpop], str] = {
    ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
DIRECT: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
NOTHING = frozenset({("==", 0), ("<", 1), ("<=", 0)})
SOMETHING = frozenset({("!=", 0), (">", 0), (">=", 1)})


def count_condition(code: Code, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Piece | None:
    """A comparison of the size of a selection with a number as a 0-d bool tensor; None if it is something else."""
    selection, number, symbols = left, right, DIRECT
    mask = _counted(code, selection)
    if mask is None:
        selection, number, symbols = right, left, MIRRORED
        mask = _counted(code, selection)
    known = number.value if isinstance(number, ast.Constant) else _constant(code, number)
    symbol = symbols.get(type(op))
    if mask is None or symbol is None or not isinstance(known, int):
        return None
    if (symbol, known) in SOMETHING:
        return method(mask, "any")
    if (symbol, known) in NOTHING:
        return Piece(f"~{method(mask, 'any').text}", Precedence.UNARY)
    return joined(symbol, Precedence.COMPARISON, method(mask, "sum"), Piece(str(known)))


def _constant(code: Code, node: ast.expr) -> object:
    value = code.value(node)
    return value.value if isinstance(value, Const) else None


def _counted(code: Code, node: ast.expr) -> Piece | None:
    """The mask whose true elements an expression counts."""
    if isinstance(node, ast.Call):
        name = called(code, node)
        if name == "len" and len(node.args) == 1:
            return _selected(code, node.args[0])
        if name == "size" and isinstance(node.func, ast.Attribute) and _is_first(node.args):
            return _selected(code, node.func.value)
        if name == "numel" and isinstance(node.func, ast.Attribute):
            return _selected(code, node.func.value, elements=True)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return _selected(code, node.value.value) if _is_first([node.slice]) else None
    return None


def _is_first(arguments: list[ast.expr]) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], ast.Constant) and arguments[0].value == 0


def _selected(code: Code, node: ast.expr, *, elements: bool = False) -> Piece | None:
    """The mask that made a selection of its true elements."""
    if isinstance(node, ast.Subscript):
        index = code.value(node.slice)
        if isinstance(index, Tensor) and index.kind == "bool":
            return piece(code, node.slice)
        if _is_first([node.slice]) and isinstance(node.value, ast.Call):
            as_tuple = called(code, node.value) == "where" or any(
                k.arg == "as_tuple" and isinstance(k.value, ast.Constant) and k.value.value for k in node.value.keywords
            )
            return _of_call(code, node.value) if as_tuple else None
        return None
    if isinstance(node, ast.Call) and called(code, node) in {"nonzero", "argwhere", "masked_select"}:
        return None if elements or any(k.arg == "as_tuple" for k in node.keywords) else _of_call(code, node)
    return None


def _of_call(code: Code, node: ast.Call) -> Piece | None:
    """The mask that a call of `nonzero`, `argwhere`, `where` or `masked_select` selects with."""
    name = called(code, node)
    given = (
        [node.func.value, *node.args] if is_method(code, node) and isinstance(node.func, ast.Attribute) else node.args
    )
    wanted = 2 if name == "masked_select" else 1
    if name not in {"nonzero", "argwhere", "where", "masked_select"} or len(given) != wanted:
        return None
    mask = given[-1]
    value = code.value(mask)
    if isinstance(value, Tensor) and value.kind == "bool":
        return _wrapped(piece(code, mask))
    return Piece(f"({joined('!=', Precedence.COMPARISON, _wrapped(piece(code, mask)), Piece('0')).text})")


def _wrapped(source: Piece) -> Piece:
    return Piece(f"({source.text})") if source.precedence <= Precedence.COMPARISON else source
