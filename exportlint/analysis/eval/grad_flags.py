"""What code does to the recording of gradients."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Const, Tensor, Value
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.tracing import GradFlag


def note_grad_flag(frame: Frame, tensor: Tensor, api: str, value: Value, node: ast.AST) -> None:
    """Record that the `requires_grad` of a tensor is set to a value."""
    enabled = bool(value.value) if isinstance(value, Const) else None
    frame.emit(GradFlag, node, tensor, api=api, target=tensor, enabled=enabled)
