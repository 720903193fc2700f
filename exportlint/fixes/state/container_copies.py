"""Deep copies of containers of tensors.

`copy.deepcopy([a, b])` becomes `[item.clone() for item in [a, b]]`. Never safe: gradients flow through clones.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Dict, Sequence, Tensor, Tuple, Value
from exportlint.fixes.edit.code import Code

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def copy_of_items(code: Code, node: ast.expr) -> Expression | None:
    """A copy of a list, tuple or dict in which each tensor is a clone; None if it is something else."""
    value = code.value(node)
    if isinstance(value, Dict) and value.rest is None and _are_tensors([entry for _, entry in value.entries]):
        key, item = code.fresh("key", node), code.fresh("value", node)
        return code.make(
            "{{{key}: {item}.clone() for {key}, {item} in {given}.items()}}", key=key, item=item, given=node
        )
    items = value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()
    if not _are_tensors(items):
        return None
    name = code.fresh("item", node)
    is_list = value.mutable if isinstance(value, Tuple) else isinstance(value, Sequence) and value.type == "list"
    if is_list:
        return code.make("[{item}.clone() for {item} in {given}]", item=name, given=node)
    if isinstance(value, Tuple) and not value.fields:
        return code.make("tuple({item}.clone() for {item} in {given})", item=name, given=node)
    return None


def _are_tensors(items: Collection[Value]) -> bool:
    return bool(items) and all(isinstance(option, Tensor) for item in items for option in options(item))
