"""Lists of 0-d tensors and numbers as one tensor: `torch.stack` keeps in the program what `torch.tensor` reads.

`torch.tensor([x.sum(), 1.0])` becomes `torch.stack([x.sum(), torch.tensor(1.0, device=x.device)])`.

Never safe: gradients flow, and the dtype is that of the tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Python, Scalar, Sequence, Size, Tensor, Tuple, Value
from exportlint.analysis.eval.demands import filled
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import call, expression, keyword
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def stacked(code: Code, node: ast.expr) -> Expression:
    """The tensor that `torch.tensor` makes of a list. Raises DeclinedError."""
    return _stacked(code, node, _device(code, node))


def _stacked(code: Code, node: ast.expr, device: Expression | None) -> Expression:
    function = code.name("torch.stack", node)
    if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
        elements = {element: _element(code, element, device) for element in node.elts}
        return call(function, code.concrete(node, elements))
    if isinstance(node, ast.ListComp) and isinstance(code.value(node), (Sequence, Tuple)):
        if _are_tensors(code.value(node)):
            return call(function, code.concrete(node))
    elif isinstance(node, ast.Name) and _are_tensors(code.value(node)):
        return call(function, node.id)
    raise DeclinedError("the elements are not known to be tensors")


def _are_tensors(value: Value) -> bool:
    value = filled(value)
    items = value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()
    return bool(items) and all(isinstance(option, Tensor) for item in items for option in options(item))


def _element(code: Code, node: ast.expr, device: Expression | None) -> Expression:
    if isinstance(node, (ast.List, ast.Tuple)):
        return _stacked(code, node, device)
    if tensor(code, node) is not None:
        return code.concrete(node)
    if all(isinstance(option, (Const, Python, Scalar, Size)) for option in options(code.value(node))):
        where = [] if device is None else [keyword("device", device)]
        return call(code.name("torch.tensor", node), code.concrete(node), *where)
    raise DeclinedError("an element may be anything")


def _device(code: Code, node: ast.expr) -> Expression | None:
    """The device on which numbers become tensors: that of the first variable that holds a tensor."""
    return next((expression("{name}.device", name=name) for name in _tensor_names(code, node)), None)


def _tensor_names(code: Code, node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and tensor(code, part) is not None:
            yield part.id
