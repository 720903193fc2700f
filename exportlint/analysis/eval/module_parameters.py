"""Which modules have parameters, as far as their constructors tell."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import FALSE, TRUE, Object, Origin, Tensor, TorchModule, Value
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.state import ParametersMade
from exportlint.analysis.torch.layers import find_layer

MAX_DEPTH = 4


def has_parameters(value: Value, depth: int = MAX_DEPTH) -> bool:
    """Whether a module surely has parameters."""
    if isinstance(value, TorchModule):
        if value.items is not None:
            return any(has_parameters(item, depth - 1) for item in value.items) if depth else False
        layer = find_layer(value.name)
        given = [v for k, v in value.arguments if k in {"affine", "elementwise_affine"}]
        by_arguments = {"always": True, "unless": FALSE not in given, "asked": TRUE in given, "never": False}
        return layer is not None and by_arguments[layer.parameters]
    if isinstance(value, Object) and depth:
        held = value.instance.attributes.values()
        return any(_is_parameter(v) or has_parameters(v, depth - 1) for v in held)
    return False


def _is_parameter(value: Value) -> bool:
    return isinstance(value, Tensor) and value.origin is Origin.PARAMETER


def note_made(frame: Frame, value: Value, name: str, node: ast.AST) -> None:
    """Record that a call makes parameters."""
    if not frame.engine.constructing and (_is_parameter(value) or has_parameters(value)):
        frame.emit(ParametersMade, node, None, api=name, trained=is_trained(node))


def is_trained(node: ast.AST) -> bool:
    """Whether the call of `nn.Parameter` at a node does not say `requires_grad=False`."""
    given = [k.value for k in getattr(node, "keywords", ()) if k.arg == "requires_grad"]
    return not any(isinstance(value, ast.Constant) and value.value is False for value in given)
