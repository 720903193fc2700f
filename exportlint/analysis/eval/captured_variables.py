"""Variables from outside of the function that an operator runs: what is written to them there, and read."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import (
    Object,
    Scalar,
    Value,
)
from exportlint.analysis.eval.classes import is_module
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.control_flow import OuterRead, OuterWrite


def _home(frame: Frame, name: str) -> int:
    """The region of the call that a variable belongs to; 0 for a global."""
    if name in frame.env and name not in frame.nonlocals:
        return frame.cell.region
    cell = frame.parent
    while cell is not None:
        if name in cell.variables:
            return cell.region
        cell = cell.parent
    return 0


def note_outer_write(frame: Frame, target: ast.expr, api: str, node: ast.AST) -> None:
    """Record that Python state is changed, if an operator runs the code and the state is from outside."""
    if not frame.engine.region:
        return
    root: ast.expr = target
    attributes = []
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        if isinstance(root, ast.Attribute):
            attributes.append(root)
        root = root.value
    if not isinstance(root, ast.Name):
        return
    holder = frame.peek(root) if attributes else None
    is_state = isinstance(holder, Object) and is_module(frame, holder.instance.definition)
    if is_state or _home(frame, root.id) != frame.engine.region:
        name = ast.unparse(attributes[0] if attributes else root)
        frame.emit(OuterWrite, node, None, api=api, name=name)


def note_outer_read(frame: Frame, node: ast.Name, value: Value) -> None:
    """Record that a number is used that was read from a tensor where no operator runs the code."""
    if frame.engine.region and isinstance(value, Scalar) and not value.assumed and not _home(frame, node.id):
        frame.emit(OuterRead, node, value, name=node.id, operand=value)
