"""How much a mask selects, asked of the mask itself.

`mask.nonzero().size(0) > 0` becomes `mask.any()`, and `len(x[mask]) == 0` `~mask.any()`.

Safe where indices are counted. Otherwise the selection may be refused, as `x[mask]` is for a mask that does not fit.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Const
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import COMPARISONS, binary, expression, method
from exportlint.fixes.proofs.observed_values import builtin, operands, operation, tensor
from exportlint.fixes.proofs.stated_numbers import stated

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NOTHING = frozenset({("==", 0), ("<", 1), ("<=", 0)})
SOMETHING = frozenset({("!=", 0), (">", 0), (">=", 1)})


INDICES = frozenset({"nonzero", "argwhere", "where"})


def count_condition(code: Code, left: ast.expr, op: ast.cmpop, right: ast.expr) -> tuple[Expression, bool] | None:
    """A comparison of the size of a selection with a number as a 0-d bool tensor; None if it is something else.

    The second item says whether it refuses what the selection refused: `x[mask]` wants a mask that fits.
    """
    selection, number, symbol = left, right, COMPARISONS.get(type(op))
    mask = _counted(code, selection)
    if mask is None:
        selection, number, symbol = right, left, _MIRRORED.get(symbol or "")
        mask = _counted(code, selection)
    known = stated(code, number)
    if mask is None or symbol is None or (known is None and not _is_integer(code, number)):
        return None
    safe = any(operation(code, part) in INDICES for part in ast.walk(selection) if isinstance(part, ast.Call))
    if (symbol, known) in SOMETHING:
        return method(mask, "any"), safe
    if (symbol, known) in NOTHING:
        return expression("~{mask}.any()", mask=mask), safe
    return binary(symbol, method(mask, "sum"), code.concrete(number)), safe and known is not None


def _is_integer(code: Code, node: ast.expr) -> bool:
    """Whether a number is an integer as far as this project sets it."""
    value = code.value(node)
    return isinstance(value, Const) and type(value.value) is int


def _counted(code: Code, node: ast.expr) -> Expression | None:
    """The mask whose true elements an expression counts."""
    if isinstance(node, ast.Call):
        if builtin(code, node) == "len" and len(node.args) == 1:
            return _selected(code, node.args[0])
        name, given = operation(code, node), operands(code, node)
        if name == "size" and len(given) == 2 and _is_zero(given[1]):
            return _selected(code, given[0])
        if name == "numel" and len(given) == 1 and isinstance(given[0], ast.Subscript):
            return _selected(code, given[0])
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return _selected(code, node.value.value) if _is_zero(node.slice) else None
    return None


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _selected(code: Code, node: ast.expr) -> Expression | None:
    """The mask that made a selection of its true elements."""
    if isinstance(node, ast.Subscript):
        index = tensor(code, node.slice)
        if index is not None and index.kind == "bool":
            return code.concrete(node.slice)
        return _of_call(code, node.value, as_tuple=True) if _is_zero(node.slice) else None
    return _of_call(code, node, as_tuple=False)


def _of_call(code: Code, node: ast.expr, *, as_tuple: bool) -> Expression | None:
    """The mask that `nonzero`, `argwhere`, `where` or `masked_select` selects with."""
    name = operation(code, node)
    if not isinstance(node, ast.Call) or name not in {*INDICES, "masked_select"}:
        return None
    given = operands(code, node)
    wanted = [True] if name == "nonzero" and as_tuple else []
    options = [k.value.value for k in node.keywords if k.arg == "as_tuple" and isinstance(k.value, ast.Constant)]
    if as_tuple != (name == "where" or bool(wanted)) or options != wanted or len(options) < len(node.keywords):
        return None
    if len(given) != (2 if name == "masked_select" else 1):
        return None
    mask = given[-1]
    held = tensor(code, mask)
    if held is not None and held.kind == "bool":
        return code.concrete(mask)
    return code.make("{mask} != 0", mask=mask)
