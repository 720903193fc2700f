"""Bounds of slices as the smaller one of bound and size: a slice takes no more than there is.

`x[:4]` becomes `x[: torch.sym_min(x.shape[0], 4)]`, and `x[-4:]` becomes `x[-torch.sym_min(x.shape[0], 4) :]`.

Safe: what is sliced is surely a tensor that can be evaluated twice, and the bound surely an integer. Otherwise it may
be a list, and other code may set the bound to None.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Const
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.purity import may_repeat
from exportlint.fixes.proofs.stated_numbers import is_whole_number
from exportlint.fixes.proofs.tensor_evidence import surely_tensor


def bounded(code: Code, size: int) -> Fix:
    """`x[:4]` and `x[-4:]`. What is left behind a lower bound may be a single row, which torch.export tells apart."""
    part = code.node(ast.Slice)
    owner = next(node for node in code.tree.ancestors(part) if isinstance(node, ast.Subscript))
    if not may_repeat(code, owner.value):
        raise DeclinedError("it would compute the tensor twice")
    bound = part.upper if size > 0 else part.lower
    literal = bound.operand if isinstance(bound, ast.UnaryOp) else bound
    if bound is None or literal is None or code.value(bound) != Const(size) or code.value(literal) != Const(abs(size)):
        raise DeclinedError("the remaining guard is just as narrow")
    limit = code.make(
        "{sym_min}({tensor}.shape[{dim}], {size})" if size > 0 else "-{sym_min}({tensor}.shape[{dim}], {size})",
        sym_min=code.name("torch.sym_min"),
        tensor=owner.value,
        dim=_dimension(owner.slice, part),
        size=literal,
    )
    # what other code sets may be None
    is_same = surely_tensor(code, owner.value) and is_whole_number(code, literal)
    message = code.while_taken(f"Take the smaller one: `{source(limit)}`", safe=is_same)
    return code.fix(message, code.replace(bound, limit), safe=is_same)


def _dimension(index: ast.expr, part: ast.Slice) -> int:
    """The dimension that a slice is of. Raises DeclinedError."""
    before = index.elts[: index.elts.index(part)] if isinstance(index, ast.Tuple) else []
    if not all(isinstance(item, (ast.Slice, ast.Constant)) and not _is_ellipsis(item) for item in before):
        raise DeclinedError("an index before the slice may cover several dimensions")
    return sum(not (isinstance(item, ast.Constant) and item.value is None) for item in before)


def _is_ellipsis(item: ast.expr) -> bool:
    return isinstance(item, ast.Constant) and item.value is ...
