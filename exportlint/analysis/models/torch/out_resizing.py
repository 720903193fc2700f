"""Operators that must give the tensor of `out=` other sizes before they write to it."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Tensor, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.state import Resize


def note_resizing_out(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Record that what `out=` names is a tensor without elements."""
    out = arguments.keywords.get("out")
    if out is not None and any(map(_is_empty, out.items if isinstance(out, Tuple) else (out,))):
        frame.emit(Resize, node, None, api=name)


def _is_empty(value: Value) -> bool:
    return all(isinstance(o, Tensor) and any(dim.number == 0 for dim in o.shape.dims) for o in options(value))
