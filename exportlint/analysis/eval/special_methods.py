"""Special methods of tensors that code calls by name: `x.__bool__()` demands what `bool(x)` does."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Python, Scalar, Tensor, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import demand_number, demand_truth, elements
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.operators import METHODS, operate
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import Branch

OPERATORS = {name: operator for operator, name in METHODS.items()}
COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
NUMBERS = {"__int__": "int()", "__float__": "float()", "__complex__": "complex()", "__index__": "operator.index()"}
SPECIAL = frozenset({*OPERATORS, *COMPARISONS, *NUMBERS, "__bool__", "__contains__", "__iter__"})
"""Methods that are called as the operator or the built-in function would."""
TEXTS = frozenset({"__repr__", "__str__", "__format__", "__hash__", "__reduce_ex__"})
"""Methods that look at a tensor as an object."""


def call_special(frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """`tensor.__name__(…)` for a method in SPECIAL."""
    other = arguments.get(0, "other")
    if name in OPERATORS and other is not None:
        return operate(frame, node, OPERATORS[name](), tensor, other)
    if name in OPERATORS or name in COMPARISONS:
        return result(frame, node, "comparison", (tensor, *arguments.values), "bool")
    if name == "__iter__":
        return elements(frame, tensor, node)
    if name == "__contains__":
        if not tensor.assumed:
            frame.emit(Branch, node, tensor, construct="in", condition=tensor)
        return Python("bool")
    is_strict = frame.engine.mode == "strict"
    if name == "__bool__":
        demand_truth(frame, tensor, node, "bool()")
        return Scalar("bool", "item", trail=tensor.trail) if is_strict else Python("bool")
    if demand_number(frame, tensor, node, NUMBERS[name]) and is_strict:
        return Scalar("float" if name == "__float__" else "int", "item", trail=tensor.trail)
    return Python("float" if name == "__float__" else "int")
