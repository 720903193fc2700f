"""Deep copies of containers of tensors."""

from __future__ import annotations

import ast
from collections.abc import Collection

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Dict, Sequence, Tensor, Tuple, Value
from exportlint.fixes.code import Code
from exportlint.fixes.precedence import Precedence


def copy_of_items(code: Code, node: ast.expr) -> str | None:
    """The source of a copy of a list, tuple or dict in which each tensor is a clone; None if it is something else."""
    value = code.value(node)
    if isinstance(value, Dict) and value.rest is None and _are_tensors([entry for _, entry in value.entries]):
        key, item = code.fresh("key", node), code.fresh("value", node)
        return f"{{{key}: {item}.clone() for {key}, {item} in {code.operand(node, Precedence.ATOM)}.items()}}"
    items = value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()
    if not _are_tensors(items):
        return None
    name = code.fresh("item", node)
    cloned = f"{name}.clone() for {name} in {code.operand(node, Precedence.OR)}"
    if isinstance(value, Tuple):
        return None if value.fields else f"[{cloned}]" if value.mutable else f"tuple({cloned})"
    return f"[{cloned}]" if isinstance(value, Sequence) and value.type == "list" else None


def _are_tensors(items: Collection[Value]) -> bool:
    return bool(items) and all(isinstance(option, Tensor) for item in items for option in options(item))
