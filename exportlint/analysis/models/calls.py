"""Calls of what is not the project's: names from outside of it, and methods of values. What models them decides."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import (
    UNKNOWN,
    AttributesOf,
    BoundMethod,
    ClassValue,
    Distribution,
    External,
    Object,
    Python,
    Super,
    Tensor,
    TorchModule,
    Unknown,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import through
from exportlint.analysis.eval.frame import Frame, calls
from exportlint.analysis.eval.instances import note_call
from exportlint.analysis.models.builtin_reflection import call_attributes_method
from exportlint.analysis.models.builtins import call_builtin
from exportlint.analysis.models.containers import call_container_method
from exportlint.analysis.models.host_values import ask_host
from exportlint.analysis.models.libraries import call_library
from exportlint.analysis.models.torch.control_flow import OPERATORS
from exportlint.analysis.models.torch.distributions import call_distribution_method, without_validation
from exportlint.analysis.models.torch.function_wrappers import apply_function
from exportlint.analysis.models.torch.functions import call_torch
from exportlint.analysis.models.torch.modules import call_module_method, call_super, call_torch_module_method
from exportlint.analysis.models.torch.results import consume_arguments
from exportlint.analysis.models.torch.tensors import call_tensor_method
from exportlint.analysis.torch import table


@calls(External)
def _call_external(frame: Frame, callee: External, arguments: Arguments, node: ast.AST) -> Value:
    name = table.resolve(callee.name)
    noted = without_validation(frame, arguments) if name.startswith("torch.distributions.") else arguments
    note_call(frame, name, noted, node)
    if frame.guards and _takes_tensor(callee.name):
        _note_guarded_operator(frame)
    operator = OPERATORS.get(callee.name)
    if operator is not None:
        return operator(frame, arguments, node)
    asked = ask_host(frame, callee.name, arguments, node)
    if asked is not None:
        return asked
    value = _call_by_name(frame, callee.name, arguments, node)
    return value if callee.name in ASKS_TYPE else through(frame, arguments.values, node, value, "operator")


def _takes_tensor(name: str) -> bool:
    """Whether a function is one of torch's that takes a tensor first."""
    api = table.lookup(name)
    return api is not None and api.kind == "function" and any("tensor" in o.types[:1] for o in api.overloads)


def _note_guarded_operator(frame: Frame) -> None:
    """Record that an operator on tensors is run, below an `except` that would swallow its failure."""
    if not frame.engine.silent:
        frame.engine.effects.runs_operator = True


ASKS_TYPE = frozenset({"builtins.isinstance", "builtins.hasattr", "builtins.type", "builtins.callable"})


def _call_by_name(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    library, _, rest = name.partition(".")
    if library == "builtins":
        return call_builtin(frame, rest, arguments, node)
    if library == "torch":
        return call_torch(frame, name, arguments, node)
    return call_library(frame, name, arguments, node)


@calls(BoundMethod)
def _call_method(frame: Frame, method: BoundMethod, arguments: Arguments, node: ast.AST) -> Value:
    receiver = method.receiver
    if isinstance(receiver, Tensor):
        if frame.guards and not receiver.assumed:
            _note_guarded_operator(frame)
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
        return call_attributes_method(frame, receiver.receiver, method.name, arguments, node)
    value = call_container_method(frame, receiver, method.name, arguments, node)
    return through(frame, arguments.values, node, value, "choice")


def _call_opaque(frame: Frame, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Something that is not known reads the tensors that it is given."""
    consume_arguments(frame, arguments, node)
    return UNKNOWN


calls(Unknown)(_call_opaque)
calls(Python)(_call_opaque)
