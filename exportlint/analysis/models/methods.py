"""Calls of methods of values that are not objects of the project, and of what is not known."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.values import (
    UNKNOWN,
    AttributesOf,
    BoundMethod,
    ClassValue,
    Distribution,
    Object,
    Python,
    Super,
    Tensor,
    TorchModule,
    Union,
    Unknown,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import propagate
from exportlint.analysis.eval.frame import Frame, calls, note_guarded_operator
from exportlint.analysis.models.builtin_reflection import call_attributes_method
from exportlint.analysis.models.containers import call_container_method
from exportlint.analysis.models.torch.distributions import call_distribution_method
from exportlint.analysis.models.torch.function_wrappers import apply_function
from exportlint.analysis.models.torch.modules import call_module_method, call_super, call_torch_module_method
from exportlint.analysis.models.torch.results import read_arguments
from exportlint.analysis.models.torch.tensors import call_tensor_method
from exportlint.analysis.reporting_calls import is_report


@calls(BoundMethod)
def _call_method(frame: Frame, method: BoundMethod, arguments: Arguments, node: ast.AST) -> Value:
    receiver = method.receiver
    if isinstance(receiver, Union):
        return frame.each(receiver, lambda option: frame.call(replace(method, receiver=option), arguments, node))
    if isinstance(receiver, Tensor):
        if frame.guards and not receiver.assumed:
            note_guarded_operator(frame)
        return call_tensor_method(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, Super):
        return call_super(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, Object):
        return call_module_method(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, TorchModule):
        return call_torch_module_method(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, ClassValue) and method.name == "apply":
        return apply_function(frame, receiver.definition, arguments, node)
    if isinstance(receiver, Distribution):
        return call_distribution_method(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, AttributesOf):
        return call_attributes_method(frame, receiver, method.name, arguments, node)
    value = call_container_method(frame, receiver, method.name, arguments, node)
    return propagate(frame, arguments.values, node, value, "choice")


def _call_opaque(frame: Frame, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Something that is not known reads the tensors that it is given."""
    read_arguments(frame, arguments, node)
    if not is_report(node):
        frame.engine.effects.computes = True
    return UNKNOWN


calls(Unknown)(_call_opaque)
calls(Python)(_call_opaque)
