"""Call expressions: arguments are evaluated, and what is called decides the rest."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.values import (
    UNKNOWN,
    AttributesOf,
    BoundMethod,
    ClassValue,
    Dict,
    Distribution,
    External,
    Object,
    Python,
    Sequence,
    Super,
    Tensor,
    TorchModule,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.arguments import UNPACKED, Arguments
from exportlint.analysis.eval.baked_values import through
from exportlint.analysis.eval.demands import rows
from exportlint.analysis.eval.frame import Frame, calls, evaluates
from exportlint.analysis.models.builtin_reflection import call_attributes_method
from exportlint.analysis.models.containers import call_container_method
from exportlint.analysis.models.torch.distributions import call_distribution_method
from exportlint.analysis.models.torch.function_wrappers import apply_function
from exportlint.analysis.models.torch.modules import call_module_method, call_super, call_torch_module_method
from exportlint.analysis.models.torch.results import consume_arguments
from exportlint.analysis.models.torch.tensors import call_tensor_method


@evaluates(ast.Call)
def call_expression(frame: Frame, node: ast.Call) -> Value:
    """`callee(a, *b, c=d, **e)`."""
    callee = frame.evaluate(node.func)
    if isinstance(callee, External) and callee.name == "builtins.super":
        return Super(frame.owner, frame.receiver) if frame.owner and frame.receiver else UNKNOWN
    return frame.call(callee, Arguments(tuple(_positional(frame, node)), _keywords(frame, node)), node)


def _positional(frame: Frame, node: ast.Call) -> list[Value]:
    found: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = frame.evaluate(argument.value)
            if isinstance(value, Tuple):
                found.extend(value.items)
            else:
                found.append(Sequence(rows(frame, value, argument.value), "*"))
        else:
            found.append(frame.evaluate(argument))
    return found


def _keywords(frame: Frame, node: ast.Call) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for keyword in node.keywords:
        value = frame.evaluate(keyword.value)
        if keyword.arg is not None:
            found[keyword.arg] = value
        elif isinstance(value, Dict):
            found.update({k: v for k, v in value.entries if isinstance(k, str)})
            if value.rest is not None:
                found[UNPACKED] = value.rest
        else:
            found[UNPACKED] = UNKNOWN
    return found


@calls(Baked)
def _call_baked(frame: Frame, callee: Baked, arguments: Arguments, node: ast.AST) -> Value:
    return callee  # `now().timestamp()`, `generator.manual_seed(0)`


@calls(BoundMethod)
def _call_method(frame: Frame, method: BoundMethod, arguments: Arguments, node: ast.AST) -> Value:
    receiver = method.receiver
    if isinstance(receiver, Tensor):
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
