"""Operators that must give the tensor of `out=` other sizes before they write to it."""

from __future__ import annotations

import ast

from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.state import Resize
from exportlint.analysis.torch.registry import find
from exportlint.syntax.definitions import dotted


def note_resizing_out(frame: Frame, name: str, node: ast.AST) -> None:
    """Record that what `out=` names is a tensor without elements."""
    if not isinstance(node, ast.Call) or not frame.engine.active:
        return
    out = next((keyword.value for keyword in node.keywords if keyword.arg == "out"), None)
    for part in out.elts if isinstance(out, (ast.Tuple, ast.List)) else [out]:
        made = _made(frame.engine.active[-1], part.id) if isinstance(part, ast.Name) else part
        if isinstance(made, ast.Call) and _is_empty(made):
            frame.emit(Resize, node, None, api=name)
            return


def _made(function: ast.AST, name: str) -> ast.expr | None:
    """What a variable of a function is bound to, if that is one thing."""
    found = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
    return found[0] if len(found) == 1 else None


def _is_empty(node: ast.Call) -> bool:
    """`torch.empty(0)`, `x.new_empty((0,))`, `torch.tensor([])`."""
    name = (dotted(node.func) or "").rpartition(".")[2]
    shape = find(f"torch.{name}").shape or find(name).shape
    first = node.args[0] if node.args else None
    if shape == "listed" and isinstance(first, (ast.Tuple, ast.List)):
        return not first.elts
    if shape not in {"sized", "filled"} and not (shape == "listed" and name.endswith("Tensor")):
        return False
    if isinstance(first, (ast.Tuple, ast.List)):
        return bool(first.elts) and _is_zero(first.elts[0])
    return first is not None and _is_zero(first)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0
