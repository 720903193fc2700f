"""Attributes of every kind of value."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis import table

from exportlint.analysis.frame import Frame, evaluates
from exportlint.analysis.instances import attribute_of
from exportlint.analysis.scopes import global_value, named_value
from exportlint.analysis.tensors import result
from exportlint.analysis.values import (
    FALSE,
    PYTHON,
    UNKNOWN,
    BoundMethod,
    ClassValue,
    Const,
    Dict,
    External,
    Function,
    Namespace,
    Object,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Super,
    Tensor,
    TorchModule,
    Tuple,
    TypeOf,
    Union,
    Unknown,
    Value,
    join,
)

VIEWS = frozenset({"T", "mT", "H", "mH", "real", "imag"})
METADATA = frozenset({"shape", "dtype", "device", "layout", "ndim", "is_cuda", "is_cpu", "requires_grad", "names"})


@evaluates(ast.Attribute)
def attribute(frame: Frame, node: ast.Attribute) -> Value:
    if isinstance(node.value, ast.Name):
        known = frame.env.get(f"{node.value.id}.{node.attr}")
        if known is not None:
            return known
    return get_attribute(frame, frame.evaluate(node.value), node.attr, node)


def get_attribute(frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
    """`value.name`."""
    if isinstance(value, Union):
        return join(_attribute(frame, option, name, node) for option in value.options)
    return _attribute(frame, value, name, node)


def _attribute(frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
    if isinstance(value, Object):
        return attribute_of(frame, value, name, node)
    if isinstance(value, Tensor):
        return _tensor_attribute(frame, value, name, node)
    if isinstance(value, External):
        return named_value(frame, f"{value.name}.{name}", frame.module)
    if isinstance(value, Namespace):
        found = global_value(frame, value.module, name)
        return found if found != UNKNOWN else named_value(frame, f"{value.module.name}.{name}", value.module)
    if isinstance(value, TorchModule):
        return _torch_module_attribute(frame, value, name)
    if isinstance(value, ClassValue):
        method = value.definition.methods.get(name)
        if method is not None:
            symbol = f"{value.definition.qualname}.{name}"
            return Function(value.definition.module, method, symbol, value.definition)
        return PYTHON if name in {"__name__", "__module__", "__doc__"} else UNKNOWN
    if isinstance(value, Super):
        return BoundMethod(value, name)
    if isinstance(value, Tuple) and name in value.fields:
        return value.items[value.fields.index(name)]
    if isinstance(value, (Shape, Tuple, Sequence, Dict, Const, Scalar)):
        return BoundMethod(value, name)
    if isinstance(value, TypeOf):
        return TypeOf(value.tensor, name)
    if isinstance(value, Python):
        return Python()
    return UNKNOWN if isinstance(value, Unknown) else PYTHON


def _tensor_attribute(frame: Frame, tensor: Tensor, name: str, node: ast.AST) -> Value:
    if name == "shape":
        return Shape(tensor)
    if name == "data":
        return replace(tensor, data=frame.site(node) if not tensor.assumed else None, known=False)
    if name == "__class__":
        return TypeOf(tensor)
    if name in VIEWS:
        made = result(frame, node, name, (tensor,), tensor.kind)
        return replace(made, origin=tensor.origin, name=tensor.name)
    if name in METADATA:
        return PYTHON
    if name in {"grad", "grad_fn", "_base"}:
        return UNKNOWN
    api = table.tensor_member(name)
    if api is not None and api.kind == "method":
        return BoundMethod(tensor, name)
    return PYTHON if api is not None else UNKNOWN


def _torch_module_attribute(frame: Frame, module: TorchModule, name: str) -> Value:
    if name == "training":
        return Const(frame.engine.options.training)
    for key, item in zip(module.keys, module.items or (), strict=False):
        if key == name:
            return item
    if name in {"weight", "bias"}:
        return table_parameter(module, name)
    if name in {"running_mean", "running_var", "num_batches_tracked"}:
        return UNKNOWN
    return BoundMethod(module, name)


def table_parameter(module: TorchModule, name: str) -> Value:
    """`linear.weight`: a parameter. A `bias` may have been switched off."""


    if name == "bias":
        for key, value in module.arguments:
            if key == "bias" and value == FALSE:
                return Const(None)
    return Tensor(Origin.PARAMETER, "float", name=name)



