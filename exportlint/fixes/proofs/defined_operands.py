"""Operands that Python refuses: None in arithmetic, and numbers outside the domain of a function of `math`.

The condition around them may have seen to it that these are not computed. `require_defined` declines such expressions,
`takes_none` finds what surely computes with None.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, External, Scalar, Value
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError

_TOTAL = frozenset({"fabs", "copysign", "isnan", "isinf", "isfinite", "atan", "atan2", "tanh", "asinh", "erf", "erfc"})
"""The functions of `math` that take every number."""


def require_defined(code: Code, node: ast.expr) -> None:
    """Raises DeclinedError if an expression may be refused because of an operand that is computed in vain."""
    for part in ast.walk(node):
        if any(_is_none(option) for operand in _operands(part) for option in options(code.value(operand))):
            raise DeclinedError("an operand may be None where the condition does not hold")
        if isinstance(part, ast.Call) and _is_partial(code, part) and any(_is_read(code, one) for one in part.args):
            raise DeclinedError("the condition may keep a number in the domain of a function")


def takes_none(code: Code, node: ast.AST) -> bool:
    """Whether code surely computes with None, so that it is not meant to be reached."""
    return any(code.surely(_is_none, operand) for part in ast.walk(node) for operand in _operands(part))


def _operands(node: ast.AST) -> list[ast.expr]:
    """What an expression computes with, or takes an attribute or an item of."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
            return [operand]
        case ast.Attribute(value=value, ctx=ast.Load()) | ast.Subscript(value=value):
            return [value]
    return []


def _is_partial(code: Code, call: ast.Call) -> bool:
    function = code.value(call.func)
    module, _, name = function.name.rpartition(".") if isinstance(function, External) else ("", "", "")
    return module == "math" and name not in _TOTAL


def _is_read(code: Code, node: ast.expr) -> bool:
    return any(isinstance(option, Scalar) for option in options(code.value(node)))


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None
