"""The messages of `torch._check`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import (
    Closure,
    Const,
    Function,
    Object,
    Scalar,
    Shape,
    Tensor,
    TorchModule,
    Value,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.tracing import CheckMessage, Problem

HELD = (Object, Scalar, Shape, Tensor, TorchModule)
"""What a closure may hold that is not a constant."""


def note_message(frame: Frame, message: Value, tested: Value | None, node: ast.AST) -> None:
    """Record a message, of a check that has `tested` something."""
    if isinstance(message, Const) and isinstance(message.value, str):
        frame.emit(CheckMessage, node, None, problem="no function")
    elif isinstance(message, Function) and message.receiver is not None:
        frame.emit(CheckMessage, node, None, problem="a method")
    elif isinstance(message, Function) and message.closure is None:
        frame.emit(CheckMessage, node, None, problem="a function defined elsewhere")
    elif isinstance(message, Function):
        captured = next((n for n in _names(message) if isinstance(_held(message.closure, n), HELD)), None)
        plain: Problem = "of numbers read" if _compares_numbers(tested, node) else "a function"
        problem: Problem = "captures" if captured is not None else plain
        frame.emit(CheckMessage, node, None, problem=problem, captured=captured or "")


def _compares_numbers(tested: Value | None, node: ast.AST) -> bool:
    """Whether a check has a symbol for its condition; the truth of a tensor, which `item` gives, is none."""
    condition = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return isinstance(tested, Scalar) and isinstance(condition, (ast.Compare, ast.BinOp))


def _names(function: Function) -> list[str]:
    body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
    return [child.id for part in body for child in ast.walk(part) if isinstance(child, ast.Name)]


def _held(closure: Closure | None, name: str) -> Value | None:
    while closure is not None:
        if name in closure.variables:
            return closure.variables[name]
        closure = closure.parent
    return None
