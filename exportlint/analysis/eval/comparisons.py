"""Comparisons: `<`, `==`, `is`, `in`."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

from exportlint.analysis.domain.interval import Interval
from exportlint.analysis.domain.lattice import join, options, tensors_in
from exportlint.analysis.domain.values import (
    ARRAY,
    CLASS_TEXTS,
    FALSE,
    NONE,
    TRUE,
    ClassValue,
    Const,
    Dict,
    External,
    Function,
    Guard,
    Object,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    TypeOf,
    Union,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import compared, read_environment
from exportlint.analysis.eval.demands import (
    data_of,
    demand_hash,
    demand_truth,
    ranged,
    stands_first,
    truth,
    without_none,
)
from exportlint.analysis.eval.frame import Frame, evaluates
from exportlint.analysis.eval.instances import operator_method
from exportlint.analysis.eval.sizes import (
    are_equal_shapes,
    are_settled,
    compared_shapes,
    compared_sizes,
    hold_sizes,
    note_conversion,
)
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import Branch, Conversion, Identity, TypeTest
from exportlint.analysis.facts.tracing import ClassText
from exportlint.analysis.torch import table

BOOL = Python("bool")
NEVER_NONE = (Tensor, Scalar, Size, Tuple, Sequence, Dict, Shape, Function, ClassValue, Object, TorchModule)


COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


METHODS: dict[type[ast.cmpop], str] = {
    ast.Eq: "__eq__", ast.NotEq: "__ne__", ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__",
}  # fmt: skip


@evaluates(ast.Compare)
def _comparison(frame: Frame, node: ast.Compare) -> Value:
    left = frame.evaluate(node.left)
    found: Value = TRUE
    for index, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = frame.evaluate(comparator)
        found = compare(frame, node, op, left, right)
        if index < len(node.ops) - 1:  # `a < b < c` is `a < b and b < c`
            is_true = demand_truth(frame, found, node, "comparison")
            if is_true is False:
                return FALSE
        left = right
    return found


def compare(frame: Frame, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
    """`left op right`, for every way that the operands can be."""
    if isinstance(left, Union) or isinstance(right, Union):
        if isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            left, right = without_none(left), without_none(right)
        return join([_compare(frame, node, op, a, b) for a in options(left) for b in options(right)])
    return _compare(frame, node, op, left, right)


def _compare(frame: Frame, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
    baked = compared(left, right)
    if baked is not None:
        return baked
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(frame, node, op, left, right)
    if isinstance(left, TypeOf) or isinstance(right, TypeOf):
        return _type_test(frame, node, op, left, right)
    if isinstance(op, (ast.In, ast.NotIn)):
        asked = read_environment(frame, right, node)
        if asked is not None:
            return asked
        return _contains(frame, node, left, right, isinstance(op, ast.In))
    own = operator_method(frame, left, METHODS.get(type(op)), node)
    if own is not None:
        return frame.call(own, Arguments((right,)), node)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        other = right if isinstance(left, Tensor) else left
        if _differs_in_kind(other):
            return Const(isinstance(op, ast.NotEq))  # `x == None`, `x == y.shape`: Python's answer, no data
        return result(frame, node, "comparison", (left, right), "bool")
    if ARRAY in (left, right) and frame.engine.mode == "strict":
        return ARRAY
    if isinstance(left, Scalar) or isinstance(right, Scalar):
        scalar = left if isinstance(left, Scalar) else right
        other = right if scalar is left else left
        assert isinstance(scalar, Scalar)
        never = _never_negative(op, other, scalar is left) if scalar.api == "size" else None
        if never is not None:
            return never
        if are_settled(op, left, right) or _is_decided_by_least(op, scalar, other, scalar is left):
            return BOOL
        if scalar.within is not None:
            checked = _by_range(op, scalar, scalar.within, other, scalar is left)
            if checked is not None:
                return checked
        if isinstance(other, Const) and not isinstance(other.value, (int, float)):
            return Const(isinstance(op, ast.NotEq))
        if scalar.kind == "bool" and not isinstance(op, (ast.Eq, ast.NotEq)) and not scalar.assumed:
            frame.emit(Conversion, node, scalar, target="arithmetic", operand=scalar)
        assumed = scalar.assumed and scalar.within is None
        return Scalar("bool", scalar.api, assumed, scalar.trail, of_float=scalar.kind == "float")
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return Const(bool(COMPARISONS[type(op)](left.value, right.value)))
        except (TypeError, KeyError):
            return BOOL
    if isinstance(left, (Tuple, Sequence, Shape)) and isinstance(right, (Tuple, Sequence, Shape)):
        return _compare_sequences(frame, node, op, left, right)
    for value in (left, right):
        note_conversion(frame, value, node, "comparison")
    return compared_sizes(op, left, right)


def _differs_in_kind(value: Value) -> bool:
    """Whether it is nothing that a tensor compares itself with: Python then answers that the two are not equal."""
    if isinstance(value, Const):
        return not isinstance(value.value, (int, float))
    return isinstance(value, (Tuple, Sequence, Shape, Dict, Function, ClassValue, TorchModule))


def _is_decided_by_least(op: ast.cmpop, scalar: Scalar, other: Value, scalar_first: bool) -> bool:
    """Whether a size that data decides is surely not smaller than a number, as that of `x[:n]` after a check of `n`."""
    if scalar.api != "size" or scalar.dim is None:
        return False
    lowest = scalar.dim.within()[0]
    return lowest > 0 and _by_range(op, scalar, (lowest, math.inf), other, scalar_first) in (TRUE, FALSE)


def _never_negative(op: ast.cmpop, other: Value, scalar_first: bool) -> Const | None:
    """The truth of the comparison of a size with a number that tells it from negative numbers only."""
    bound = other.value if isinstance(other, Const) else None
    compares = COMPARISONS.get(type(op))
    if compares is None or not isinstance(bound, (int, float)):
        return None
    truths = {bool(compares(*((n, bound) if scalar_first else (bound, n)))) for n in (0, 1, math.inf)}
    return Const(truths.pop()) if len(truths) == 1 and bound <= 0 else None


def _by_range(op: ast.cmpop, scalar: Scalar, within: Interval, other: Value, scalar_first: bool) -> Value | None:
    """The truth of the comparison of a number in a range; None if data decides it."""
    if not isinstance(other, Const) or not isinstance(other.value, (int, float)):
        return BOOL  # torch.export knows how the two are related, or not
    if isinstance(op, (ast.Eq, ast.NotEq)):
        if within[0] == within[1] == other.value:
            return Const(isinstance(op, ast.Eq))
        is_open = within[0] <= other.value <= within[1] and other.value not in scalar.apart
        return None if is_open else Const(isinstance(op, ast.NotEq))
    compares = COMPARISONS[type(op)]
    truths = {bool(compares(*((n, other.value) if scalar_first else (other.value, n)))) for n in within}
    return Const(truths.pop()) if len(truths) == 1 else None


def _identity(frame: Frame, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
    positive = isinstance(op, ast.Is)
    if isinstance(left, TypeOf) or isinstance(right, TypeOf):
        return _type_test(frame, node, op, left, right)
    for value, other in ((left, right), (right, left)):
        if other == NONE:
            if value == NONE:
                return Const(positive)
            surely = isinstance(value, NEVER_NONE) or (
                isinstance(value, External) and table.lookup(value.name) is not None
            )
            surely = surely and not (isinstance(value, Tensor) and (value.optional or value.assumed))
            if surely or (isinstance(value, Const) and value.value is not None):
                return Const(not positive)
            return BOOL
    if isinstance(left, Tensor) and isinstance(right, Tensor) and not (left.assumed or right.assumed):
        operator_name = "is" if positive else "is not"
        frame.emit(Identity, node, left, operator=operator_name, operand=left, other=right)
        return BOOL
    if isinstance(left, Const) and isinstance(right, Const):
        return Const((left == right) is positive)
    for value, other in ((left, right), (right, left)):
        is_read = isinstance(value, Scalar) and value.kind == "bool" and not value.assumed
        if isinstance(value, Scalar) and is_read and other in (TRUE, FALSE):
            frame.emit(Identity, node, value, operator="is" if positive else "is not", operand=value, other=other)
            return Const(not positive)  # a symbol is neither
    if isinstance(left, Tensor) ^ isinstance(right, Tensor):
        other = right if isinstance(left, Tensor) else left
        if isinstance(other, Const):
            return Const(not positive)
    return BOOL


def _type_test(frame: Frame, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
    tested = left if isinstance(left, TypeOf) else right
    other = right if tested is left else left
    assert isinstance(tested, TypeOf)
    is_within = isinstance(op, (ast.In, ast.NotIn)) and tested is right
    if is_within and tested.of_parameter and tested.attribute in CLASS_TEXTS:
        frame.emit(ClassText, node, tested.tensor, text=tested.attribute, operation=_OPERATORS[type(op)])
    if tested.tensor.assumed or tested.tensor.optional:
        return BOOL
    if isinstance(other, TypeOf) and not other.attribute:
        return BOOL
    expected = tuple(sorted({_type_name(o) for o in _each(other)} - {""}))
    frame.emit(
        TypeTest, node, tested.tensor, operand=tested.tensor, test=_OPERATORS.get(type(op), "=="), expected=expected
    )
    return BOOL


_OPERATORS = {ast.Is: "is", ast.IsNot: "is not", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in"}


def _each(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Tuple):
        return value.items
    return options(value.item if isinstance(value, Sequence) else value)


def _type_name(value: Value) -> str:
    if isinstance(value, External):
        return value.name
    return str(value.value) if isinstance(value, Const) else ""


def _contains(frame: Frame, node: ast.AST, left: Value, right: Value, positive: bool) -> Value:
    if frame.engine.mode == "strict" and positive:
        data = right if isinstance(right, Tensor) else data_of(left) or ranged(left)
        if data is not None and isinstance(right, (Tensor, Tuple)):
            if isinstance(right, Tensor) and not right.assumed:
                frame.emit(Branch, node, right, construct="traced in", condition=right)
            assumed = isinstance(data, Tensor) and data.assumed
            return Scalar("bool", assumed=assumed, trail=data.trail)  # strict traces the comparisons
    if isinstance(right, Tensor):
        is_text = isinstance(left, Const) and isinstance(left.value, str)  # what holds strings is no tensor
        if not right.assumed and not is_text:
            frame.emit(Branch, node, right, construct="in", condition=right)
        return BOOL
    for text in (left, right):
        if isinstance(text, Size) and text.kind == "str" and not isinstance(right, Dict):
            note_conversion(frame, text, node, "comparison")
    needle = data_of(left) or ranged(left)
    if isinstance(needle, Tensor) and _begins_with_itself(node):
        return Const(positive)  # Python asks for identity before it compares
    if isinstance(right, (Tuple, Sequence)):
        items = right.items if isinstance(right, Tuple) else (right.item,)
        hashed = isinstance(right, Sequence) and right.type == "set"
        if isinstance(needle, Tensor) and all(map(_differs_in_kind, items)):
            needle = None
        if hashed:
            demand_hash(frame, left, node, "set element")
        if isinstance(left, Tensor) and stands_first(right, left):
            is_itself = isinstance(right, Tuple) and left.origin is Origin.INPUT and bool(left.name)
            return Const(positive) if is_itself else BOOL
        if needle is not None and items and not hashed:
            frame.emit(Branch, node, needle, construct="in", condition=needle)
            return BOOL
        found = next((d for i in items if (d := data_of(i)) is not None), None)
        if needle is None and isinstance(found, Scalar) and isinstance(left, (Const, Size)):
            frame.emit(Branch, node, found, construct="in list", condition=found)
        if isinstance(right, Tuple) and isinstance(left, Const) and all(isinstance(i, Const) for i in items):
            return Const((left in items) is positive)
        if isinstance(right, Tuple) and isinstance(left, Size) and items:
            return _any(compared_sizes(ast.Eq(), left, item) for item in items)
        if isinstance(right, Tuple) and items and (isinstance(left, Shape) or hold_sizes(left)):
            return _any(compare(frame, node, ast.Eq(), left, item) for item in items)
        return BOOL
    if isinstance(right, Dict):
        demand_hash(frame, left, node, "dict key")
    if isinstance(needle, Scalar) and isinstance(right, Python) and right.type in {"range", "list"}:
        frame.emit(Branch, node, needle, construct="in", condition=needle)
    if isinstance(right, Dict) and isinstance(left, Const) and right.rest is None:
        return Const((right.get(left.value) is not None) is positive)
    return BOOL


def _begins_with_itself(node: ast.AST) -> bool:
    """Whether a comparison is `x in [x, …]`."""
    match node:
        case ast.Compare(left=ast.Name(id=name), comparators=[ast.List(elts=items) | ast.Tuple(elts=items)]) if items:
            return isinstance(items[0], ast.Name) and items[0].id == name
    return False


def _any(comparisons: Iterable[Value]) -> Value:
    """What `a == b or a == c` says of a size: one guard stands for all of them, as one refuses what others would."""
    found = list(comparisons)
    guards = [value for value in found if isinstance(value, Guard)]
    return max(guards, key=lambda guard: guard.test != "one") if guards else found[0]


def _compare_sequences(frame: Frame, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
    for shape in (left, right):
        is_data = isinstance(shape, Shape) and shape.tensor.dynamic and not shape.tensor.assumed
        if isinstance(shape, Shape) and is_data and not are_equal_shapes(left, right):
            scalar = Scalar("int", "size", trail=shape.tensor.trail)
            frame.emit(Branch, node, scalar, construct="comparison", condition=scalar)
            return BOOL
    if isinstance(left, Shape) or isinstance(right, Shape) or hold_sizes(left, right):
        return compared_shapes(op, left, right)
    known = _compare_known(op, left, right)
    if known is not None:
        return known
    asked = _compare_numbers(frame, node, left, right)
    if asked is not None:
        return Const(isinstance(op, ast.NotEq)) if isinstance(op, (ast.Eq, ast.NotEq)) and asked is FALSE else BOOL
    first = next((t for t in tensors_in(left, 1) if not t.assumed), None)
    second = next((t for t in tensors_in(right, 1) if not t.assumed), None)
    if first is not None and second is not None and isinstance(op, (ast.Eq, ast.NotEq)):
        frame.emit(Branch, node, first, construct="comparison", condition=first)
    return BOOL


def _compare_numbers(frame: Frame, node: ast.AST, left: Value, right: Value) -> Value | None:
    """Ask for the numbers read from tensors that lists or tuples hold, up to the first items that differ.

    FALSE if some surely differ, None if there are none that surely are compared.
    """
    pairs = _paired(left, right)
    if not any(isinstance(data_of(item), Scalar) for pair in pairs for item in pair):
        return None
    compared = [compare(frame, node, ast.Eq(), one, other) for one, other in pairs]
    if frame.engine.mode == "strict" and any(truth(found) is False for found in compared):
        return FALSE  # whatever stands before them
    for found in compared:
        if isinstance(data_of(found), Scalar):
            assert isinstance(node, ast.expr)
            demand_truth(frame, found, node, "comparison")
            return BOOL
        if truth(found) is not True:
            return FALSE if truth(found) is False else BOOL
    return TRUE


def _paired(left: Value, right: Value) -> list[tuple[Value, Value]]:
    """The items that lists or tuples compare: the first ones where the length of one is not known, as of `.tolist()`.

    Lists compare their lengths before, tuples after their items.
    """
    match left, right:
        case (Tuple(lazy=None), Tuple(lazy=None)) if left.mutable is right.mutable:
            is_compared = not left.mutable or len(left.items) == len(right.items)
            return list(zip(left.items, right.items, strict=False)) if is_compared else []
        case (Sequence(type="list"), Tuple(mutable=True)) if right.items:
            return [(left.item, right.items[0])]
        case (Tuple(mutable=True), Sequence(type="list")) if left.items:
            return [(left.items[0], right.item)]
    return []


def _compare_known(op: ast.cmpop, left: Value, right: Value) -> Const | None:
    """The comparison of two lists, or two tuples, of constants."""
    if not (isinstance(left, Tuple) and isinstance(right, Tuple)) or left.mutable is not right.mutable:
        return None
    sides = [[item.value for item in side.items if isinstance(item, Const)] for side in (left, right)]
    if left.lazy or right.lazy or list(map(len, sides)) != [len(left.items), len(right.items)]:
        return None
    try:
        return Const(bool(COMPARISONS[type(op)](*sides)))
    except (TypeError, KeyError):
        return None
