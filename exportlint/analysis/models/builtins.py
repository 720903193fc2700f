"""Python's built-in functions, and the methods of its containers and strings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from exportlint.analysis.domain.values import (
    PYTHON,
    UNKNOWN,
    Const,
    Python,
    Scalar,
    Size,
    Tensor,
    Value,
    constant,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import (
    data_of,
    demand_number,
    demand_truth,
    note_text,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.names import descriptor
from exportlint.analysis.eval.sizes import note_conversion, settled, text_of, worked_out
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import Conversion

Builtin = Callable[[Frame, Arguments, ast.AST], Value]
_BUILTINS: dict[str, Builtin] = {}


def builtin(*names: str) -> Callable[[Builtin], Builtin]:
    """Register what a built-in function does."""

    def register(function: Builtin) -> Builtin:
        for name in names:
            _BUILTINS[name] = function
        return function

    return register


def call_builtin(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`name(…)` for a built-in function."""
    function = _BUILTINS.get(name)
    if function is not None:
        return function(frame, arguments, node)
    made = descriptor(f"builtins.{name}", first_of(arguments))
    if made is not None:
        return made
    return PYTHON if name[:1].isupper() or name == "print" else UNKNOWN


def first_of(arguments: Arguments) -> Value:
    """The first argument; unknown if there is none."""
    return arguments.get(0) or UNKNOWN


def argument_node(node: ast.AST, index: int = 0) -> ast.AST:
    """Where a positional argument stands."""
    return node.args[index] if isinstance(node, ast.Call) and len(node.args) > index else node


def _number(target: str, kind: str) -> Builtin:
    def convert(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
        value = first_of(arguments)
        if demand_number(frame, value, node, target):
            data = data_of(value)
            assert data is not None
            # non-strict fails here, so that nothing more is to be said; strict goes on with a symbol
            strict = frame.engine.mode == "strict"
            return Scalar(kind, "item", False, data.trail) if strict else Python(kind)  # type: ignore[arg-type]
        if isinstance(value, Const) and isinstance(value.value, (int, float)) and kind != "complex":
            return constant(int(value.value) if kind == "int" else float(value.value))
        if isinstance(value, Size):
            # non-strict fixes the number here; strict goes on with a symbol
            strict = frame.engine.mode == "strict"
            whole: Literal["int", "float"] = "int" if kind == "int" else "float"
            return replace(value, kind=whole) if strict else settled(value, whole)
        return Python(kind)

    return convert


_BUILTINS["int"] = _number("int()", "int")
_BUILTINS["float"] = _number("float()", "float")
_BUILTINS["complex"] = _number("complex()", "complex")


@builtin("bool")
def _bool(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first_of(arguments)
    assert isinstance(node, ast.Call)
    is_true = demand_truth(frame, value, node, "bool()")
    data = data_of(value)
    if data is not None and frame.engine.mode == "strict":
        return Scalar("bool", "item", trail=data.trail)  # strict goes on with a symbol
    return Python("bool") if is_true is None else Const(is_true)


@builtin("abs", "round", "pow", "divmod")
def _arithmetic(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first_of(arguments)
    if isinstance(value, Tensor) and getattr(getattr(node, "func", None), "id", "") == "round":
        demand_number(frame, value, node, "round()")  # tensors have no `__round__`
    if isinstance(value, Tensor):
        return result(frame, node, "abs", arguments.values, value.kind, value.shape)
    if isinstance(value, Size):
        name = getattr(getattr(node, "func", None), "id", "abs")
        note_conversion(frame, value, node, f"{name}()")
        return worked_out(value)
    data = data_of(value)
    if getattr(getattr(node, "func", None), "id", "") == "divmod" and isinstance(data, Scalar):
        frame.emit(Conversion, node, data, target="divmod()", operand=data)
    return value if isinstance(value, Scalar) else PYTHON


@builtin("str", "repr", "format")
def _text(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = getattr(getattr(node, "func", None), "id", "str")
    if name == "format" and arguments.get(1) not in {None, Const("")}:
        demand_number(frame, first_of(arguments), node, "format()")
    elif len(arguments.values) == 1:
        note_text(frame, first_of(arguments), node, f"{name}()")
    value = first_of(arguments)
    data = data_of(value)
    if data is not None:
        return text_of(data)
    return replace(value, kind="str") if isinstance(value, Size) and value.dim.varies else Python("str")


@builtin("hex", "oct", "bin", "chr")
def _index(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = getattr(getattr(node, "func", None), "id", "hex")
    demand_number(frame, first_of(arguments), node, f"{name}()")
    return Python("str")
