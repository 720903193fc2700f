"""Python's built-in functions: numbers and texts, and those of which little is to be said."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from exportlint.analysis.domain.lattice import each, trail_of
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
    is_constant,
    note_text,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.operators import operate
from exportlint.analysis.eval.sizes import (
    expression_of,
    note_conversion,
    note_text_of_sizes,
    settled,
    shown_size,
    text_of,
)
from exportlint.analysis.eval.tensor_results import kind_of, result
from exportlint.analysis.facts import Conversion
from exportlint.analysis.library_functions import Handler, Traits, function, functions

if TYPE_CHECKING:
    from typing_extensions import Unpack

functions("builtins.bytes", pure=True, strict="refuses", traced_from=(2, 15))
functions("builtins.locals", strict="refuses", traced_from=(2, 13))
functions("builtins.dir builtins.globals builtins.eval builtins.exec builtins.compile", strict="refuses")
functions("builtins.__import__ builtins.memoryview", strict="refuses")
functions("builtins.bytearray builtins.object", strict="refuses", traced_from=(2, 15))
functions("builtins.property", decorated="property", strict="refuses")
functions("builtins.staticmethod", decorated="static", strict="refuses", traced_from=(2, 15))
functions("builtins.classmethod", decorated="class")
functions("builtins.ord", gives="int", pure=True)
functions("builtins.slice", pure=True, returns=Python("slice"))
functions("builtins.ascii", pure=True)
functions("builtins.open", effect="act")
functions("builtins.list.insert builtins.list.pop", numbers=(0,))


def builtin(*names: str, **traits: Unpack[Traits]) -> Callable[[Handler], Handler]:
    """Register what a call of built-in functions gives, with their other traits."""

    def register(handler: Handler) -> Handler:
        def called(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
            return handler(frame, name.removeprefix("builtins."), arguments, node)

        return function(" ".join(f"builtins.{name}" for name in names), **traits)(called)

    return register


def first_of(arguments: Arguments) -> Value:
    """The first argument; unknown if there is none."""
    return arguments.get(0) or UNKNOWN


def argument_node(node: ast.AST, index: int = 0) -> ast.AST:
    """Where a positional argument stands."""
    return node.args[index] if isinstance(node, ast.Call) and len(node.args) > index else node


def _number(kind: Literal["int", "float", "complex"]) -> Handler:
    target = f"{kind}()"

    def convert(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
        value = first_of(arguments)
        if demand_number(frame, value, node, target):
            # non-strict fails here, so that nothing more is to be said; strict goes on with a symbol
            strict = frame.engine.mode == "strict"
            is_read = isinstance(value, Tensor) or (isinstance(value, Scalar) and value.unbounded)
            unbounded = is_read and kind == kind_of(value) == "int"
            number = Scalar(kind, "item", trail=trail_of(value), unbounded=unbounded)  # type: ignore[arg-type]
            return number if strict else Python(kind)
        if isinstance(value, Const) and isinstance(value.value, (int, float)) and kind != "complex":
            return constant(int(value.value) if kind == "int" else float(value.value))
        if isinstance(value, Size):
            # non-strict fixes the number here; strict goes on with a symbol
            strict = frame.engine.mode == "strict"
            whole: Literal["int", "float"] = "int" if kind == "int" else "float"
            return replace(value, kind=whole) if strict else settled(value, whole)
        return Python(kind)

    return convert


builtin("int", gives="int", pure=True)(_number("int"))
builtin("float", gives="float", pure=True)(_number("float"))
builtin("complex", pure=True)(_number("complex"))


@builtin("bool", gives="bool", pure=True)
def _bool(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = first_of(arguments)
    assert isinstance(node, ast.Call)
    if is_constant(value):
        return Python("bool")
    is_true = demand_truth(frame, value, node, "bool()")
    data = data_of(value)
    if data is not None and frame.engine.mode == "strict":
        return Scalar("bool", "item", trail=data.trail)  # strict goes on with a symbol
    return Python("bool") if is_true is None else Const(is_true)


@builtin("abs", "round", "pow", "divmod", pure=True)
def _arithmetic(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = first_of(arguments)
    if isinstance(value, Tensor) and name == "round":
        demand_number(frame, value, node, "round()")  # tensors have no `__round__`
    data = data_of(value)
    if name == "divmod" and isinstance(data, Scalar):
        frame.emit(Conversion, node, data, target="divmod()", operand=data)
    return each(value, lambda option: _number_of(frame, name, option, arguments, node))


def _number_of(frame: Frame, name: str, value: Value, arguments: Arguments, node: ast.AST) -> Value:
    if isinstance(value, Tensor):
        return result(frame, node, "abs", arguments.values, value.kind, value.shape)
    if isinstance(value, Size):
        note_conversion(frame, value, node, f"{name}()")
        return expression_of(value)
    if name == "pow" and len(arguments.positional) == 2:
        return operate(frame, node, ast.Pow(), value, arguments.positional[1])
    return value if isinstance(value, Scalar) else PYTHON


PLAIN_FORMAT = "format() without a format specification"


@builtin("str", "repr", "format", pure=True)
def _text(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name == "format" and arguments.get(1) not in {None, Const("")}:
        demand_number(frame, first_of(arguments), node, "format()")
    elif len(arguments.values) == 1:
        note_text(frame, first_of(arguments), node, f"{name}()")
        note_text_of_sizes(frame, first_of(arguments), node, PLAIN_FORMAT if name == "format" else f"{name}()")
    value = first_of(arguments)
    data = data_of(value)
    if data is not None:
        return text_of(data)
    # strict mode has failed here
    shown = shown_size(value) if frame.engine.mode == "non-strict" else None
    return Python("str") if shown is None else shown


@builtin("hex", "oct", "bin", "chr", pure=True)
def _index(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    demand_number(frame, first_of(arguments), node, f"{name}()")
    return Python("str")
