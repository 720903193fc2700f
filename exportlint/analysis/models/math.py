"""`math` and `cmath`, which compute with plain numbers."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.values import UNKNOWN, Python, Scalar, Sequence, Shape, Size, Tensor, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import demand_number
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import expression_of, product
from exportlint.analysis.library_functions import find, function, functions

functions("math.isnan math.isinf math.isfinite math.isclose", gives="bool")
functions("math.isqrt math.gcd math.lcm math.comb math.perm math.factorial", gives="int")
functions("math.modf math.frexp", gives=None)
functions("cmath.sqrt cmath.exp cmath.phase cmath.polar cmath.log", strict="refuses", traced_from=(2, 15))


def _numbers(value: Value) -> tuple[Value, ...]:
    """What may be a number, or holds them: `math.fsum(items)`, `math.hypot(*x.shape)`."""
    if isinstance(value, Tuple):
        return value.items
    return (value.item,) if isinstance(value, Sequence) else (value,)


@function("math.*", gives="float", pure=True)
def _compute(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    operands = [item for v in arguments.positional for item in _numbers(v)]
    next((item for item in operands if demand_number(frame, item, node, f"{name}()")), None)
    return Python(find(name).gives)


@function("math.floor math.ceil math.trunc", gives="int")
def _round(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """What has a symbolic form, on 2.13: a symbol passes through."""
    first = arguments.get(0) or UNKNOWN
    if isinstance(first, Scalar):
        return Scalar("int", first.api, first.assumed, first.trail)
    if isinstance(first, Tensor):
        demand_number(frame, first, node, f"{name}()")
        return Python("int")
    if isinstance(first, Size):
        # the bounds of a float are the integers that it lies between
        return replace(first, kind="int") if first.kind != "str" else expression_of(first, kind="int")
    return _compute(frame, name, arguments, node)


@function("math.prod", gives=None)
def _product(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.get(0) or UNKNOWN
    if isinstance(first, Scalar):
        return Scalar("int", first.api, first.assumed, first.trail)
    if isinstance(first, Shape):
        return product(first.tensor)
    if isinstance(first, Size):
        return expression_of(first, kind="int")
    return _compute(frame, name, arguments, node)
