"""What the expressions of a script give, as far as calls of torch.export depend on it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from exportlint.analysis.domain.script_values import Dim, Example, Model, Program
from exportlint.analysis.domain.values import UNKNOWN, Const, Dict, Function, Sequence, Tuple, Value, constant
from exportlint.analysis.eval.container_changes import merged_dicts
from exportlint.analysis.limits import MAX_SCRIPT_STEPS
from exportlint.analysis.scripts.names import attribute, look_up
from exportlint.analysis.scripts.scope import Scope, TooManyStepsError

CALLS: list[Callable[[Scope, ast.Call], Value]] = []
"""The evaluation of calls, which `calls` registers: it needs what stands here."""


def evaluate(scope: Scope, node: ast.expr) -> Value:
    """What an expression can be."""
    scope.run.steps += 1
    if scope.run.steps > MAX_SCRIPT_STEPS:
        raise TooManyStepsError
    if isinstance(node, ast.Constant):
        return constant(node.value)
    if isinstance(node, ast.Name):
        return look_up(scope, node.id)
    if isinstance(node, ast.Attribute):
        return attribute(scope, evaluate(scope, node.value), node.attr)
    if isinstance(node, ast.Call):
        return CALLS[0](scope, node)
    handler = HANDLERS.get(type(node))
    if handler is not None:
        return handler(scope, node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            evaluate(scope, child)
    return UNKNOWN


def truth(scope: Scope, node: ast.expr) -> bool | None:
    """Which way a condition goes; None if that is not known."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = truth(scope, node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.BoolOp):
        parts = [truth(scope, value) for value in node.values]
        decisive = isinstance(node.op, ast.Or)
        return decisive if decisive in parts else None if None in parts else not decisive
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot):
        left, right = evaluate(scope, node.left), evaluate(scope, node.comparators[0])
        if right != Const(None) or not isinstance(left, Const | Example | Tuple | Dict | Model | Program | Function):
            return None
        return (left == right) == isinstance(node.ops[0], ast.Is)
    value = evaluate(scope, node)
    return bool(value.value) if isinstance(value, Const) else None


def _sequence(scope: Scope, node: ast.Tuple | ast.List) -> Value:
    items: list[Value] = []
    known = True
    for element in node.elts:
        value = evaluate(scope, element.value if isinstance(element, ast.Starred) else element)
        if not isinstance(element, ast.Starred):
            items.append(value)
        elif isinstance(value, Tuple):
            items += value.items
        else:
            known = False
    kind = "list" if isinstance(node, ast.List) else "tuple"
    return Tuple(tuple(items), kind == "list") if known else Sequence(UNKNOWN, kind)


def _dict(scope: Scope, node: ast.Dict) -> Value:
    found = Dict()
    known = True
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluate(scope, item)
        name = evaluate(scope, key) if key is not None else value
        if key is None and isinstance(name, Dict):
            found = merged_dicts(found, name)
        elif isinstance(name, Const):
            found = found.updated(name.value, value)
        else:
            known = False
    return found if known else Dict(found.entries, UNKNOWN)


def _lambda(scope: Scope, node: ast.Lambda) -> Value:
    return Function(scope.module, node, f"{scope.symbol}.<lambda>".lstrip("."))


def _subscript(scope: Scope, node: ast.Subscript) -> Value:
    value, index = evaluate(scope, node.value), evaluate(scope, node.slice)
    if isinstance(value, Tuple) and isinstance(index, Const) and type(index.value) is int:
        return value.items[index.value] if -len(value.items) <= index.value < len(value.items) else UNKNOWN
    if isinstance(value, Dict) and isinstance(index, Const):
        return value.get(index.value) or UNKNOWN
    return UNKNOWN


def _operation(scope: Scope, node: ast.BinOp) -> Value:
    left, right = evaluate(scope, node.left), evaluate(scope, node.right)
    if isinstance(left, Dim) or isinstance(right, Dim):
        return _derived(node.op, left, right)
    for tensor, other in ((left, right), (right, left)):
        if isinstance(tensor, Example):
            same = isinstance(other, Const) or (isinstance(other, Example) and other.shape == tensor.shape)
            return tensor if same else Example()
    if isinstance(left, Tuple) and isinstance(right, Tuple) and isinstance(node.op, ast.Add):
        return Tuple((*left.items, *right.items), left.mutable)
    if isinstance(left, Const) and isinstance(right, Const):
        operation, first, second = _INTEGERS.get(type(node.op)), left.value, right.value
        if operation is not None and isinstance(first, int) and isinstance(second, int):
            return constant(operation(first, second))
    return UNKNOWN


def _derived(operator: ast.operator, left: Value, right: Value) -> Dim:
    """`3 * n + 1`. Torch takes what grows with a dimension, by integers: its bounds follow from those of `n`."""
    operation = _INTEGERS.get(type(operator))
    dim, other = (left, right) if isinstance(left, Dim) else (right, left)
    number = other.value if isinstance(other, Const) and type(other.value) is int else None
    falls = isinstance(operator, ast.Sub) and dim is right
    if not isinstance(dim, Dim) or operation is None or number is None or falls:
        return Dim(derived=True)
    if isinstance(operator, ast.Mult) and number < 1:
        return Dim(derived=True)
    highest = None if dim.max is None else operation(dim.max, number)
    lowest = max(operation(dim.min or 0, number), 0)
    factor = dim.factor * number if isinstance(operator, ast.Mult) else dim.factor
    root = dim.root if dim.derived else dim.name
    return Dim(None, lowest, highest, derived=True, root=root, factor=factor, shift=operation(dim.shift, number))


def _negation(scope: Scope, node: ast.UnaryOp) -> Value:
    value = evaluate(scope, node.operand)
    if isinstance(value, Const) and isinstance(value.value, int) and isinstance(node.op, ast.USub):
        return constant(-value.value)
    return value if isinstance(value, Example) else UNKNOWN


def _conditional(scope: Scope, node: ast.IfExp) -> Value:
    decided = truth(scope, node.test)
    if decided is not None:
        return evaluate(scope, node.body if decided else node.orelse)
    one, other = evaluate(scope, node.body), evaluate(scope, node.orelse)
    return one if one == other else UNKNOWN


def _walrus(scope: Scope, node: ast.NamedExpr) -> Value:
    value = evaluate(scope, node.value)
    scope.env[node.target.id] = value
    return value


def _formatted(scope: Scope, node: ast.JoinedStr) -> Value:
    parts = [evaluate(scope, v.value if isinstance(v, ast.FormattedValue) else v) for v in node.values]
    fields = [v for v in node.values if isinstance(v, ast.FormattedValue)]
    is_plain = all(v.conversion == -1 and v.format_spec is None for v in fields)
    if not is_plain or not all(isinstance(part, Const) for part in parts):
        return UNKNOWN
    return Const("".join(str(part.value) for part in parts if isinstance(part, Const)))


def _awaited(scope: Scope, node: ast.Await) -> Value:
    evaluate(scope, node.value)
    return UNKNOWN


_INTEGERS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__,
}  # fmt: skip

HANDLERS: dict[type[ast.expr], Callable[[Scope, Any], Value]] = {
    ast.Tuple: _sequence, ast.List: _sequence, ast.Dict: _dict, ast.Lambda: _lambda, ast.Subscript: _subscript,
    ast.BinOp: _operation, ast.UnaryOp: _negation, ast.IfExp: _conditional, ast.NamedExpr: _walrus,
    ast.Await: _awaited, ast.JoinedStr: _formatted,
}  # fmt: skip
"""By kind of expression; `comprehensions` adds its own."""
