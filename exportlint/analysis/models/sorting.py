"""What strict mode does not order: lists and tuples with something in them that is not a constant."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    NONE,
    Dict,
    Object,
    Sequence,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.tracing import SortedRows


def note_sorted_rows(frame: Frame, value: Value, arguments: Arguments, node: ast.AST, api: str) -> None:
    """Record that rows are sorted, as in `sorted(found.items())`, of which one surely holds a tensor or a module."""
    if frame.engine.mode == "strict" and arguments.keywords.get("key", NONE) == NONE:
        held = next((part for part in _parts(frame, value, node) if _is_held(part)), None)
        if held is not None:
            frame.emit(SortedRows, node, held, api=api)


def _parts(frame: Frame, value: Value, node: ast.AST) -> tuple[Value, ...]:
    """What the rows hold: each surely stands in one of them."""
    pairs = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if isinstance(pairs, ast.Call) and isinstance(pairs.func, ast.Attribute) and pairs.func.attr == "items":
        found = frame.peek(pairs.func.value)
        if isinstance(found, Dict):
            return tuple(entry for _, entry in found.entries)
    rows = value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()
    return tuple(part for row in rows if isinstance(row, Tuple) for part in row.items)


def _is_held(part: Value) -> bool:
    return all(
        isinstance(option, (Object, TorchModule)) or (isinstance(option, Tensor) and not option.assumed)
        for option in options(part)
    )
