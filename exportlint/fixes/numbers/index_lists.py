"""Lists of numbers among the indices of a tensor as one tensor.

`x[:, [a, b]]` becomes `x[:, torch.stack([a, b])]`, of numbers that were read `x[:, torch.tensor([n, 0])]`, and
`x[i.tolist()]` becomes `x[i]`.

Never safe: a tensor of one element counts as a number in a list, and keeps its shape in the stack.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Python, Scalar, Sequence, Size, Tuple, Value
from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import call
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.stacked import stacked
from exportlint.fixes.proofs.observed_values import listed, tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def index_list_fix(code: Code, _: Fact) -> Fix:
    """Index with a tensor.

    Raises:
        DeclinedError: what the list holds is not known, or it is a list of lists.
    """
    node = code.node(ast.expr)
    return code.fix("Index with one tensor", code.replace(node, _indices(code, node)), safe=False)


def _indices(code: Code, node: ast.expr) -> Expression:
    read = listed(node)
    is_lone = isinstance(code.tree.parents[node], ast.Subscript)
    if read is None:
        values = options(code.value(node))
        if is_lone and not all(
            isinstance(value, Sequence) or (isinstance(value, Tuple) and value.mutable) for value in values
        ):
            raise DeclinedError("it is a tuple of indices")
        if all(map(_holds_numbers, values)):
            return call(code.name("torch.tensor", node), code.concrete(node))
        if is_lone:
            raise DeclinedError("a list with a tensor counts as a tuple of indices")
        return stacked(code, node)
    given = tensor(code, read)
    if given is None or (given.shape.rank or 0) > 1:
        raise DeclinedError("the list holds lists")
    return code.concrete(read)


def _holds_numbers(value: Value) -> bool:
    items = value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else None
    return items is not None and all(
        isinstance(option, (Const, Python, Scalar, Size)) or _holds_numbers(option)
        for item in items
        for option in options(item)
    )
