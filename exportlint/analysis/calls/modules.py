"""Calls of modules, and of the methods that every `nn.Module` has."""

from __future__ import annotations

import ast

from exportlint.analysis import table
from exportlint.analysis.calls.results import build, consume_arguments, fresh
from exportlint.analysis.facts import ModuleChange
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.assignment import assign
from exportlint.analysis.interpreter.bindings import register_buffer
from exportlint.analysis.interpreter.classes import bases, bound, find_method
from exportlint.analysis.interpreter.demands import elements
from exportlint.analysis.interpreter.frame import Frame, calls
from exportlint.analysis.interpreter.instances import holds_parameters, instantiate, note_call
from exportlint.analysis.joins import join
from exportlint.analysis.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    External,
    Object,
    Origin,
    Python,
    Sequence,
    Super,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)

MOVES = frozenset({"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type"})


@calls(ClassValue)
def _call_class(frame: Frame, callee: ClassValue, arguments: Arguments, node: ast.AST) -> Value:
    return instantiate(frame, callee.definition, arguments, node)


@calls(Object)
def _call_object(frame: Frame, callee: Object, arguments: Arguments, node: ast.AST) -> Value:
    for name in ("__call__", "forward"):
        if find_method(frame, callee.instance.definition, name) is not None:
            return frame.call(frame.attribute(callee, name, node), arguments, node)
    consume_arguments(frame, arguments, node)
    return UNKNOWN


def call_super(frame: Frame, target: Super, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`super().name(…)`."""
    receiver = target.receiver
    if not isinstance(receiver, Object):
        return UNKNOWN
    found = find_method(frame, receiver.instance.definition, name, after=target.owner)
    if found is not None:
        return frame.call(bound(frame, receiver, *found), arguments, node)
    if name == "__init__":
        for base in bases(frame, target.owner):
            if isinstance(base, External):
                note_call(frame, base.name, arguments, node)
        return NONE
    if name == "forward":
        return fresh(frame, node, name, arguments.values)
    return call_module_method(frame, receiver, name, arguments, node)


@calls(TorchModule)
def _call_torch_module(frame: Frame, module: TorchModule, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.get(0, "input") or UNKNOWN
    if module.name == "torch.nn.Sequential" and module.items is not None:
        for item in module.items:
            first = frame.call(item, Arguments((first,)), node)
        return first
    if module.name == "torch.nn.Identity":
        return first
    note_call(frame, module.name, arguments, node)
    api = table.lookup(module.name)
    if api is None or not api.overloads or api.overloads[0].returns.kind == "unknown":
        return fresh(frame, node, module.name, arguments.values)
    return build(frame, node, module.name, api.overloads[0].returns, arguments.values)


def call_module_method(frame: Frame, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method that a project module inherits from `nn.Module`."""
    attributes = receiver.instance.attributes
    first = arguments.get(0, "name")
    if name in {"register_buffer", "register_parameter", "add_module", "register_module"}:
        value = (
            arguments.get(1, {"register_buffer": "tensor", "register_parameter": "param"}.get(name, "module"))
            or UNKNOWN
        )
        if isinstance(value, Tensor) and name != "register_buffer":
            value = Tensor(Origin.PARAMETER, value.kind, made=value.made)
        if not isinstance(first, Const) or not isinstance(first.value, str):
            receiver.instance.registered.append(value)
        elif name == "register_buffer":
            register_buffer(frame, receiver.instance, first.value, value, node)
        else:
            attributes[first.value] = value
        return NONE
    if name in MOVES:
        _note_move(frame, receiver, name, arguments, node)
        return receiver
    return _common(receiver, name)


def call_torch_module_method(
    frame: Frame, module: TorchModule, name: str, arguments: Arguments, node: ast.AST
) -> Value:
    """A method of a module of torch."""
    if name in MOVES and name != "type":
        _note_move(frame, module, name, arguments, node)
        return module
    if name == "forward":
        return frame.call(module, arguments, node)
    if name in {"append", "extend", "insert", "add_module"} and module.items is not None:
        _grow(frame, module, name, arguments, node)
        return module
    if module.items is not None:
        if name == "values":
            return Sequence(join(module.items) if module.items else UNKNOWN)
        if name == "items":
            return Sequence(Tuple((PYTHON, join(module.items) if module.items else UNKNOWN)))
        if name == "keys":
            return Sequence(Python("str"))
    return _common(module, name)


def _grow(frame: Frame, module: TorchModule, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Rebind the name or attribute of a container to one that has more modules."""
    value = arguments.get(0 if name in {"append", "extend"} else 1) or UNKNOWN
    added = (elements(frame, value, node),) if name == "extend" else (value,)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        grown = TorchModule(module.name, (*(module.items or ()), *added))
        assign(frame, node.func.value, grown, node)


def _note_move(frame: Frame, module: Value, name: str, arguments: Arguments, node: ast.AST) -> None:
    dtypes = {value.name for value in arguments.values if isinstance(value, External)}
    casts = name in {"half", "double", "bfloat16"} or bool(dtypes - {"torch.float", "torch.float32"})
    if holds_parameters(module):
        frame.emit(ModuleChange, node, None, api=name, casts=casts)


def _common(module: Value, name: str) -> Value:
    if name == "parameters":
        return Sequence(Tensor(Origin.PARAMETER, "float"), "generator")
    if name == "named_parameters":
        return Sequence(Tuple((Python("str"), Tensor(Origin.PARAMETER, "float"))), "generator")
    if name in {"buffers"}:
        return Sequence(Tensor(Origin.BUFFER), "generator")
    if name == "named_buffers":
        return Sequence(Tuple((Python("str"), Tensor(Origin.BUFFER))), "generator")
    if name == "state_dict":
        return Dict((), Tensor(Origin.PARAMETER))
    if name in {"train", "eval", "requires_grad_", "apply"}:
        return module
    if name in {"children", "modules"}:
        return Sequence(UNKNOWN, "generator")
    return UNKNOWN
