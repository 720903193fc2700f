"""Whether two parameters are tied, asked of the objects instead of their memory.

`self.head.weight.data_ptr() == self.embed.weight.data_ptr()` becomes `self.head.weight is self.embed.weight`.

Never safe: a view of a tensor shares its memory, and is another object.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Origin
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.observed_values import tensor

if TYPE_CHECKING:
    from exportlint.analysis.facts import Fact
    from exportlint.findings import Fix
    from exportlint.fixes.edit.code import Code

HELD = frozenset({Origin.PARAMETER, Origin.BUFFER, Origin.ATTRIBUTE, Origin.GLOBAL})
"""Tensors that are there before the model runs, so that tracing sees the same objects."""


def tied_fix(code: Code, _: Fact) -> Fix:
    """Compare two tensors by `is`. Raises DeclinedError if tracing sees others than eager."""
    compared = code.tree.parents[code.expression]
    match compared:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as operator], comparators=[right]):
            one, other = _owner(left), _owner(right)
        case _:
            raise InapplicableError("the address is not compared with another one")
    if one is None or other is None:
        raise InapplicableError("the address is not compared with another one")
    held = [tensor(code, one), tensor(code, other)]
    if not all(each is not None and each.origin in HELD for each in held):
        raise DeclinedError("the program does not know which tensors share memory")
    template = "{one} is {other}" if isinstance(operator, ast.Eq) else "{one} is not {other}"
    new = code.make(template, one=one, other=other)
    return code.fix("Ask whether it is the same tensor", code.replace(compared, new), safe=False)


def _owner(node: ast.expr) -> ast.expr | None:
    """`x` of `x.data_ptr()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="data_ptr"), args=[], keywords=[]):
            return owner
    return None
