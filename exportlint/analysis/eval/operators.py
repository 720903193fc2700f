"""Operators: arithmetic, comparisons, `is`, `in`, `not`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.interval import Interval, add, floor_divide, multiply, negate
from exportlint.analysis.domain.lattice import each, join, options
from exportlint.analysis.domain.shape import UNSHAPED, multiplied
from exportlint.analysis.domain.values import (
    ARRAY,
    COMPUTED_ARRAY,
    FALSE,
    PYTHON,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    Guard,
    Python,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Tuple,
    Union,
    Unknown,
    Value,
    constant,
    text,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import propagate
from exportlint.analysis.eval.container_changes import merged_dicts
from exportlint.analysis.eval.demands import demand_number, demand_truth, note_text, without_none
from exportlint.analysis.eval.frame import Frame, evaluates
from exportlint.analysis.eval.gradients import is_unbounded
from exportlint.analysis.eval.instances import operator_method
from exportlint.analysis.eval.sizes import (
    arithmetic,
    expression_of,
    note_guard,
    note_text_of_sizes,
    read_arithmetic,
    varying_size,
)
from exportlint.analysis.eval.tensor_results import promoted, result
from exportlint.analysis.facts import Conversion, HostRead


def power(base: Any, exponent: Any) -> object:
    """A power of small numbers.

    Raises:
        ArithmeticError: it may be one of many digits.
    """
    if abs(base) > 1024 or abs(exponent) > 64:
        raise ArithmeticError
    return base**exponent


ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Div: operator.truediv, ast.Pow: power,
}  # fmt: skip
METHODS: dict[type[ast.operator], str] = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__", ast.MatMult: "__matmul__", ast.Pow: "__pow__", ast.BitAnd: "__and__", ast.BitOr: "__or__",
}  # fmt: skip
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
BOOL = Python("bool")


@evaluates(ast.BinOp)
def _binary(frame: Frame, node: ast.BinOp) -> Value:
    # the left spine iteratively: generated code has sums of a thousand terms
    spine = [node]
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    value = frame.evaluate(spine[-1].left)
    for step in reversed(spine):
        value = operate(frame, step, step.op, value, frame.evaluate(step.right))
    return value


def operate(frame: Frame, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    """`left op right`, for every way that the operands can be."""
    if isinstance(left, Union) or isinstance(right, Union):
        if any(isinstance(option, (Tensor, Scalar)) for option in (*options(left), *options(right))):
            left, right = without_none(left), without_none(right)
        return join(_operate(frame, node, op, a, b) for a in options(left) for b in options(right))
    return _operate(frame, node, op, left, right)


def _operate(frame: Frame, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    own = operator_method(frame, left, METHODS.get(type(op)), node)
    if own is not None:
        return frame.call(own, Arguments((right,)), node)
    if isinstance(left, Const) and isinstance(left.value, str) and isinstance(op, ast.Mod):
        size = _format(frame, node, left.value, right)
        return _percent(left.value, right) if size is None else replace(size, kind="str")
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        tensor = left if isinstance(left, Tensor) else right
        if ARRAY in (left, right) and isinstance(tensor, Tensor) and not tensor.assumed:
            frame.emit(HostRead, node, tensor, api="np.ndarray", operand=tensor)
        kind = "float" if isinstance(op, ast.Div) else promoted((left, right))
        if isinstance(op, BITWISE):  # a tensor computes with symbols, but not with their bits
            note_guard(frame, right if tensor is left else left, node)
        if isinstance(op, ast.MatMult):
            shape = multiplied(*(side.shape if isinstance(side, Tensor) else UNSHAPED for side in (left, right)))
            return result(frame, node, "matmul", (left, right), kind, shape)
        return result(frame, node, "operator", (left, right), kind)
    if ARRAY in (left, right) and frame.engine.mode == "strict":
        return ARRAY
    if {ARRAY, COMPUTED_ARRAY} & {left, right} and all(map(_is_of_arrays, (left, right))):
        return COMPUTED_ARRAY
    if isinstance(op, ast.Mult):
        for repeated, count in ((left, right), (right, left)):
            is_text = isinstance(repeated, Python) and repeated.type == "str"
            if is_text or (isinstance(repeated, Const) and isinstance(repeated.value, str)):
                demand_number(frame, count, node, "string repetition")
                return Python("str")
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, (Tuple, Sequence)):
            return _sequence(frame, node, op, sequence, count, is_left=sequence is left)
    if isinstance(left, Scalar) or isinstance(right, Scalar):
        scalar = left if isinstance(left, Scalar) else right
        assert isinstance(scalar, Scalar)
        kind = "float" if isinstance(op, ast.Div) else promoted((left, right))
        if (
            isinstance(op, ast.Pow)
            and isinstance(right, Scalar)
            and isinstance(left, Const)
            and kind == "int"
            and right.api != "size"
        ):
            frame.emit(Conversion, node, right, target="exponent", operand=right)  # is it negative?
        truth = next((s for s in (left, right) if isinstance(s, Scalar) and s.kind == "bool" and not s.assumed), None)
        if truth is not None and not isinstance(op, (ast.BitAnd, ast.BitOr)):
            frame.emit(Conversion, node, truth, target="arithmetic", operand=truth)
        dim = None if kind == "bool" or isinstance(op, ast.Div) else read_arithmetic(frame, op, left, right)
        if dim is not None and not dim.is_data:  # as in `x.shape[0] - n`, if `n` is in that size
            return Size(dim, trail=scalar.trail)
        within = _range(op, left, right) if kind != "float" else None
        unbounded = is_unbounded(op, left, right)
        return Scalar(kind, scalar.api, scalar.assumed, scalar.trail, dim, within=within, unbounded=unbounded)
    if isinstance(left, Guard) and isinstance(right, Guard) and isinstance(op, BITWISE):
        return left  # still a symbol
    for operand in (left, right):
        note_guard(frame, operand, node)
    if isinstance(left, Size) or isinstance(right, Size):
        return arithmetic(op, left, right)
    if isinstance(left, Const) and isinstance(right, Const) and not isinstance(op, (ast.BitOr, ast.BitAnd)):
        return _fold(op, left.value, right.value)
    known = isinstance(left, (Const, Python)) and isinstance(right, (Const, Python))
    if isinstance(op, ast.Add) and known and (_is_text(left) or _is_text(right)):
        return text((left, right))
    if isinstance(op, ast.BitOr) and isinstance(left, Dict) and isinstance(right, Dict):
        return merged_dicts(left, right)
    if isinstance(op, ast.BitOr) and TRUE in (left, right):
        return TRUE
    if isinstance(op, ast.BitAnd) and FALSE in (left, right):
        return FALSE
    other = UNKNOWN if isinstance(left, Unknown) or isinstance(right, Unknown) else PYTHON
    return propagate(frame, (left, right), node, other, "operator")


def _range(op: ast.operator, left: Value, right: Value) -> Interval | None:
    """The range of a result, where all that torch.export knows of the operands are ranges."""
    one, other = _range_of(left), _range_of(right)
    if one is None or other is None:
        return None
    if isinstance(op, ast.Add):
        return add(one, other)
    if isinstance(op, ast.Sub):
        return add(one, negate(other))
    if isinstance(op, ast.FloorDiv):
        return floor_divide(one, other)
    return multiply(one, other) if isinstance(op, ast.Mult) else None


def _range_of(value: Value) -> Interval | None:
    if isinstance(value, Scalar):
        return None if value.apart else value.within  # the result may be apart from other numbers
    return (value.value, value.value) if isinstance(value, Const) and isinstance(value.value, int) else None


def _fold(op: ast.operator, left: object, right: object) -> Value:
    function = ARITHMETIC.get(type(op))
    small = isinstance(left, (int, float)) and isinstance(right, (int, float))
    if isinstance(left, str) and isinstance(right, str) and isinstance(op, ast.Add):
        return constant(left + right)
    if function is None or not small:
        return PYTHON
    try:
        return constant(function(left, right))
    except (ArithmeticError, TypeError):
        return PYTHON


def _is_text(value: Value) -> bool:
    held = value.value if isinstance(value, Const) else None
    return isinstance(held, str) or (isinstance(value, Python) and value.type == "str")


def _percent(template: str, right: Value) -> Value:
    """`"_%s_%d" % values`, as far as it is known."""
    values = list(right.items if isinstance(right, Tuple) else (right,))
    parts: list[Value] = []
    for literal, spec in re.findall(r"((?:[^%]|%%)*)(%[^%a-zA-Z]*[a-zA-Z])?", template):
        parts.append(Const(literal.replace("%%", "%")))
        if spec:
            value = values.pop(0) if values else PYTHON
            plain = spec in {"%s", "%d"} and isinstance(value, Const) and isinstance(value.value, (str, int))
            parts.append(value if plain else PYTHON)
    return text(parts)


def _sequence(
    frame: Frame, node: ast.AST, op: ast.operator, sequence: Tuple | Sequence, other: Value, *, is_left: bool
) -> Value:
    if isinstance(op, ast.Mult):
        if demand_number(frame, other, node, "list repetition"):
            return Sequence(_item(sequence))
        count = other.value if isinstance(other, Const) else None
        if isinstance(sequence, Tuple) and isinstance(count, int) and 0 <= count * len(sequence.items) <= 64:
            return Tuple(sequence.items * count, sequence.mutable)
        return Sequence(_item(sequence))
    if isinstance(op, ast.Add) and isinstance(other, (Tuple, Sequence)):
        if isinstance(sequence, Tuple) and isinstance(other, Tuple) and len(sequence.items + other.items) <= 64:
            first, second = (sequence, other) if is_left else (other, sequence)
            return Tuple(first.items + second.items, sequence.mutable)
        parts = [_item(s) for s in (sequence, other) if not (isinstance(s, Tuple) and not s.items)]
        return Sequence(join(parts))
    return Sequence(join((_item(sequence), UNKNOWN)))


def _item(value: Tuple | Sequence) -> Value:
    if isinstance(value, Sequence):
        return value.item
    return join(value.items) if value.items else UNKNOWN


def _format(frame: Frame, node: ast.AST, template: str, right: Value) -> Size | None:
    """`"%.2f" % x` needs numbers; `%s` and `%r` do not. Gives a size that varies, if the text shows one."""
    size: Size | None = None
    letters = template.replace("%%", "").split("%")[1:]
    items = right.items if isinstance(right, Tuple) else (right,)
    for spec, item in zip(letters, items, strict=False):
        letter = next((c for c in spec if c.isalpha()), "s")
        if letter not in "sra":
            demand_number(frame, item, node, "`%` formatting")
        else:
            note_text(frame, item, node, "%s")
            note_text_of_sizes(frame, item, node, "%s")
            size = varying_size(item) or size
    return size if frame.engine.mode == "non-strict" else None  # strict mode has failed here


def _is_of_arrays(value: Value) -> bool:
    """Whether numpy surely computes with it: a tensor would make the result a tensor."""
    return value in (ARRAY, COMPUTED_ARRAY) or (isinstance(value, Const) and isinstance(value.value, (int, float)))


@evaluates(ast.UnaryOp)
def _unary_expression(frame: Frame, node: ast.UnaryOp) -> Value:
    value = frame.evaluate(node.operand)
    if isinstance(node.op, ast.Not) and isinstance(value, Guard):
        return value
    if isinstance(node.op, ast.Not):
        is_true = demand_truth(frame, value, node.operand, "not")
        found = BOOL if is_true is None else Const(not is_true)
        return propagate(frame, (value,), node, found, "operator") if is_true is None else found
    return each(value, lambda option: _unary(frame, node, option))


def _unary(frame: Frame, node: ast.UnaryOp, value: Value) -> Value:
    if isinstance(value, Tensor):
        return result(frame, node, "operator", (value,), value.kind)
    if isinstance(value, Const) and isinstance(node.op, ast.USub) and isinstance(value.value, (int, float)):
        return constant(-value.value)
    if isinstance(value, Size):
        return replace(value, dim=-value.dim) if isinstance(node.op, ast.USub) else expression_of(value)
    if isinstance(value, Scalar) and isinstance(node.op, ast.Invert) and not value.assumed:
        frame.emit(Conversion, node, value, target="~", operand=value)
    if isinstance(value, Python) and value.type in {"int", "float"} and not isinstance(node.op, ast.Invert):
        return Python(value.type)
    return value if isinstance(value, (Scalar, Unknown, Baked)) else PYTHON
