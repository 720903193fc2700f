"""Attributes of every kind of value."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.shape import UNSHAPED, TensorShape
from exportlint.analysis.domain.values import (
    ARRAY,
    CLASS_TEXTS,
    COMPUTED_ARRAY,
    FALSE,
    PYTHON,
    SOME_MODULE,
    UNKNOWN,
    AttributesOf,
    BoundMethod,
    ClassValue,
    Const,
    Dict,
    EnumMember,
    External,
    Function,
    Namespace,
    Object,
    Origin,
    Partial,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Super,
    Tensor,
    TorchModule,
    Tuple,
    TypeOf,
    Value,
)
from exportlint.analysis.eval.baked_values import metadata, on_accelerator
from exportlint.analysis.eval.classes import bind_member, bound, changed_member, is_autograd_function, member
from exportlint.analysis.eval.frame import Frame, evaluates, has_attributes
from exportlint.analysis.eval.gradients import SWITCHES, is_carried
from exportlint.analysis.eval.names import global_value, named_value
from exportlint.analysis.eval.special_methods import SPECIAL, TEXTS
from exportlint.analysis.eval.state_access import note_attribute_read
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.library_functions import find as library_function
from exportlint.analysis.torch import table
from exportlint.analysis.torch.operator import ShapeRule
from exportlint.analysis.torch.registry import find


@evaluates(ast.Attribute)
def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    if isinstance(node.value, ast.Name):
        known = frame.env.get(f"{node.value.id}.{node.attr}")
        if known is not None:
            note_attribute_read(frame, frame.env.get(node.value.id) or frame.peek(node.value), node.attr, node)
            return known
    receiver = frame.evaluate(node.value)
    if node.attr in SWITCHES:
        frame.engine.effects.switches_gradients = True
    note_attribute_read(frame, receiver, node.attr, node)
    return frame.attribute(receiver, node.attr, node)


@has_attributes(External)
def _external_attribute(frame: Frame, value: External, name: str, node: ast.AST) -> Value:
    return named_value(frame, f"{value.name}.{name}", frame.module)


@has_attributes(Namespace)
def _namespace_attribute(frame: Frame, value: Namespace, name: str, node: ast.AST) -> Value:
    found = frame.changed_value(Cell(value.module, name))
    if found is None and name in value.module.bindings:
        found = global_value(frame, value.module, name)
    if found is None or found == UNKNOWN:
        return named_value(frame, f"{value.module.name}.{name}", value.module)
    return found


@has_attributes(ClassValue)
def _class_attribute(frame: Frame, value: ClassValue, name: str, node: ast.AST) -> Value:
    found = member(frame, value.definition, name)
    changed = changed_member(frame, value.definition, name, found)
    if changed is not None:
        return changed
    if found is not None:
        return bind_member(frame, name, found[1], value, value.definition, node)
    if name == "apply" and is_autograd_function(frame, value.definition):
        return BoundMethod(value, name)
    if name in {"__name__", "__module__", "__doc__"}:
        return PYTHON
    return UNKNOWN


def _method(frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
    if isinstance(value, Const) and name in {"value", "name"}:
        member = value.value
        if not isinstance(member, EnumMember):
            return value if name == "value" else PYTHON  # a member that is a number or a text as well
        return member.value if name == "value" else Const(member.name)
    if isinstance(value, Tuple) and name in value.fields:
        return value.items[value.fields.index(name)]
    return BoundMethod(value, name)


ARRAY_SIZES = frozenset({"shape", "ndim", "size", "itemsize", "nbytes"})
"""What an array tells that is no tensor for strict mode."""
ARRAY_VIEWS = frozenset({"T", "real", "imag"})
"""What an array tells that is an array."""
ARRAY_OF_NUMBERS = frozenset({"flatten", "ravel", "repeat", "reshape"})
"""Methods that make an array of a number of numpy as well."""


@has_attributes(Baked)
def _baked_attribute(frame: Frame, value: Baked, name: str, node: ast.AST) -> Value:
    return PYTHON if value.source == "numpy" and name in ARRAY_SIZES else value


@has_attributes(Super)
def _super_attribute(frame: Frame, value: Super, name: str, node: ast.AST) -> Value:
    receiver = value.receiver
    if isinstance(receiver, Object):
        found = bound(frame, receiver, receiver.instance.definition, name, node, after=value.owner)
        if found is not None:
            return found
        if name == "__setattr__":
            return Partial(External("builtins.setattr"), (receiver,))
    return BoundMethod(value, name)


has_attributes(AttributesOf, Shape, Tuple, Sequence, Dict, Const, Scalar)(_method)


@has_attributes(TypeOf)
def _type_attribute(frame: Frame, value: TypeOf, name: str, node: ast.AST) -> Value:
    if value.of_parameter and value.attribute in CLASS_TEXTS:
        return TypeOf(value.tensor, f"{value.attribute}.{name}", of_parameter=True)
    return TypeOf(value.tensor, name, value.of_parameter)


def _python_attribute(frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
    if isinstance(value, Size) and (name == "bit_length" or value.kind == "str"):
        return BoundMethod(value, name)
    if isinstance(value, Function) and name == "__name__" and not isinstance(value.node, ast.Lambda):
        return Const(value.node.name)
    if isinstance(value, Python) and value.type is not None and "." in value.type:
        return External(f"{value.type}.{name}")  # a method of a class that is known by its qualified name
    if value == SOME_MODULE and name in {"weight", "bias"}:
        return Tensor(Origin.PARAMETER, "float", optional=name == "bias", name=name)
    if value == Python("PackedSequence") and name in {"data", "batch_sizes"}:
        return result(frame, node, f"PackedSequence.{name}", (), "int" if name == "batch_sizes" else None)
    if value in (ARRAY, COMPUTED_ARRAY):
        return _array_attribute(frame, value, name)
    return PYTHON


has_attributes(Python, Function, Partial, BoundMethod, Size)(_python_attribute)


def _array_attribute(frame: Frame, value: Value, name: str) -> Value:
    method = f"numpy.ndarray.{name}"
    if value == COMPUTED_ARRAY:  # perhaps a number
        return External(method) if name in ARRAY_OF_NUMBERS else PYTHON
    if name in ARRAY_VIEWS:
        return ARRAY
    is_known = name in {"tobytes", "tofile"} or library_function(method).returns == ARRAY
    return External(method) if is_known or frame.engine.mode == "strict" else PYTHON


@has_attributes(Tensor)
def _tensor_attribute(frame: Frame, tensor: Tensor, name: str, node: ast.AST) -> Value:
    if name == "shape":
        return Shape(tensor)
    if name == "data":
        site = frame.site(node) if not tensor.assumed else None
        return replace(tensor, data=site, known=False, requires_grad=False)
    if name == "__class__":
        return TypeOf(tensor)
    api = table.tensor_member(name)
    if name in SPECIAL or name in TEXTS or (api is None and tensor.array):
        return BoundMethod(tensor, name)
    if api is None or name in {"grad", "grad_fn"}:
        return UNKNOWN
    if api.kind == "method":
        return BoundMethod(tensor, name)
    record = find(api.name)
    if record.tells is not None:
        return metadata(frame, tensor, *record.tells, node)
    if record.storage == "view":
        made = result(frame, node, name, (tensor,), tensor.kind, _shape_of_view(tensor.shape, record.shape))
        carries = is_carried(frame, tensor.kind, (tensor,))
        return replace(
            made, origin=tensor.origin, region=tensor.region, form=tensor.form,
            requires_grad=carries, unplaced=tensor.unplaced,
        )  # fmt: skip
    if name == "is_cuda":
        return on_accelerator(frame, name, node)
    kind = api.overloads[0].returns.kind if api.overloads else "unknown"
    return Python(kind) if kind in {"int", "bool", "device"} else PYTHON


def _shape_of_view(shape: TensorShape, rule: ShapeRule | None) -> TensorShape:
    """The shape of `x.T` and its like, if it is known how many dimensions there are."""
    if rule == "same":
        return shape
    if shape.rank is None:
        return UNSHAPED
    if rule in ("reversed", "transposed"):
        return TensorShape(tuple(reversed(shape.up_to(shape.rank))), shape.rank)
    if rule == "mirrored" and shape.rank > 1:
        return shape.swapped(-2, -1)
    return UNSHAPED


@has_attributes(TorchModule)
def _torch_module_attribute(frame: Frame, module: TorchModule, name: str, node: ast.AST) -> Value:
    if name == "training":
        return Const(frame.engine.options.training)
    for key, item in zip(module.keys, module.items or (), strict=False):
        if key == name:
            return item
    if name in {"weight", "bias"}:
        return _parameter(module, name)
    if name in {"running_mean", "running_var", "num_batches_tracked"}:
        return UNKNOWN
    return BoundMethod(module, name)


def _parameter(module: TorchModule, name: str) -> Value:
    """`linear.weight`: a parameter. A `bias` may have been switched off."""
    if name == "bias":
        for key, value in module.arguments:
            if key == "bias" and value == FALSE:
                return Const(None)
    return Tensor(Origin.PARAMETER, "float", requires_grad=True, name=name)
