"""Calls of modules, and of the methods that every `nn.Module` has."""

from __future__ import annotations

import ast

from exportlint.analysis import table
from exportlint.analysis.facts import Call, ModuleChange
from exportlint.analysis.frame import Frame
from exportlint.analysis.parameters import Arguments
from exportlint.analysis.torch_calls import build, consume_arguments, fresh
from exportlint.analysis.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    Const,
    Dict,
    Object,
    Origin,
    Python,
    Sequence,
    Tensor,
    TorchModule,
    Tuple,
    Value,
    join,
)

MOVES = frozenset({"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type"})


def call_torch_module(
    frame: Frame, module: TorchModule, positional: list[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """A module of torch is called."""
    from exportlint.analysis.functions import call

    if module.name == "torch.nn.Sequential" and module.items is not None:
        value = positional[0] if positional else UNKNOWN
        for item in module.items:
            value = call(frame, item, [value], {}, node)
        return value
    frame.emit(
        Call, node, positional[0] if positional else None,
        name=module.name, positional=tuple(positional), keywords=tuple(keywords.items()),
    )  # fmt: skip
    api = table.lookup(module.name)
    operands = [*positional, *keywords.values()]
    if api is None or not api.overloads or api.overloads[0].returns.kind == "unknown":
        consume_arguments(frame, positional, keywords, node)
        return fresh(frame, node, module.name, operands) if module.name != "torch.nn.Identity" else join(positional[:1] or [UNKNOWN])
    return build(frame, node, module.name, api.overloads[0].returns, operands)


def call_module_method(frame: Frame, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method that a project module inherits from `nn.Module`."""
    attributes = receiver.instance.attributes
    first = arguments.get(0, "name")
    if name in {"register_buffer", "register_parameter", "add_module", "register_module"}:
        value = arguments.get(1, {"register_buffer": "tensor", "register_parameter": "param"}.get(name, "module")) or UNKNOWN
        if isinstance(value, Tensor) or (name == "register_buffer" and value != NONE):
            kind = value.kind if isinstance(value, Tensor) else None
            origin = Origin.BUFFER if name == "register_buffer" else Origin.PARAMETER
            value = Tensor(origin, kind)
        if isinstance(first, Const) and isinstance(first.value, str):
            attributes[first.value] = value
        return NONE
    if name in MOVES:
        if not frame.engine.silent:
            frame.emit(ModuleChange, node, None, api=name)
        return receiver
    return _common(receiver, name)


def call_torch_module_method(
    frame: Frame, module: TorchModule, name: str, arguments: Arguments, node: ast.AST
) -> Value:
    """A method of a module of torch."""
    if name in MOVES and name != "type":
        frame.emit(ModuleChange, node, None, api=name)
        return module
    if name == "forward":
        return call_torch_module(frame, module, arguments.positional, arguments.keywords, node)
    if module.items is not None:
        if name == "values":
            return Sequence(join(module.items) if module.items else UNKNOWN)
        if name == "items":
            return Sequence(Tuple((PYTHON, join(module.items) if module.items else UNKNOWN)))
        if name == "keys":
            return Sequence(Python("str"))
    return _common(module, name)


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
