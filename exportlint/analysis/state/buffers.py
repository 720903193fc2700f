"""What an assignment changes of a buffer for sure, besides its values."""

from __future__ import annotations

import ast
from typing import Literal

from exportlint.analysis.domain.accesses import Write
from exportlint.analysis.domain.values import NONE, Tensor
from exportlint.syntax.definitions import dotted

JOINS = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack"})
WIDTHS = frozenset({"double", "half", "bfloat16"})


def changes(write: Write) -> Literal["nothing", "dtype", "shape", "presence"]:
    """What differs between the buffer and what it is bound to."""
    before, value = write.before, write.value
    if value == NONE:
        return "presence" if before not in {None, NONE} else "nothing"
    kinds = {t.kind for t in (before, value) if isinstance(t, Tensor)}
    if len(kinds) == 2 and None not in kinds:
        return "dtype"
    source = _source(write)
    if isinstance(source, ast.Call):
        name = (dotted(source.func) or str(getattr(source.func, "attr", ""))).rpartition(".")[2]
        if name in WIDTHS and isinstance(before, Tensor) and before.kind == "float":
            return "dtype"
        if name in JOINS and _loaded(write.node) in map(dotted, _parts(source)):
            return "shape"
    return "nothing"


def _parts(call: ast.Call) -> list[ast.expr]:
    first = call.args[0] if call.args else None
    return first.elts if isinstance(first, (ast.List, ast.Tuple)) else []


def _loaded(node: ast.AST) -> str:
    """The dotted name that a target of an assignment has where it is read; empty if it has none."""
    return dotted(node) or "" if isinstance(node, ast.Attribute) else ""


def _source(write: Write) -> ast.expr | None:
    """The expression that the buffer is bound to, also through one variable, or what a call returns."""
    source = _written(write)
    step = write.value.trail if isinstance(write.value, Tensor) else None
    if step is None or step.role != "return" or step.node is not source:
        return source
    while step is not None and step.role == "return":
        step = step.parent
    return step.node if step is not None and isinstance(step.node, ast.expr) else source


def _written(write: Write) -> ast.expr | None:
    """The expression as it stands where the buffer is bound, also through one variable."""
    for node in ast.walk(write.function):
        if isinstance(node, ast.Assign | ast.AnnAssign) and write.node in _targets(node):
            if not isinstance(node.value, ast.Name):
                return node.value
            name = node.value.id
            statements = (n for n in ast.walk(write.function) if isinstance(n, ast.Assign | ast.AnnAssign))
            found = [statement for statement in statements if _binds(statement, name)]
            return found[0].value if len(found) == 1 else None
    return None


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _binds(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in _targets(node))
