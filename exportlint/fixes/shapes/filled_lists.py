"""Lists as long as a size, and sums over rows, as one operator.

`torch.tensor([1.0] * n)` becomes `torch.full((n,), 1.0)`, and `sum(x)` becomes `x.sum(0)`.

Safe: the number stands in the code, each dtype holds it, and the size is an integer and not negative. Otherwise the
list may have another dtype or be refused, and rows are added in another order.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import External
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.result_shapes import LARGEST
from exportlint.fixes.proofs.size_values import is_natural, is_number, is_whole
from exportlint.fixes.proofs.stated_numbers import is_whole_number, stated
from exportlint.fixes.proofs.tensor_evidence import surely_tensor


def without_loop(code: Code) -> Fix:
    """`torch.tensor([1.0] * n)`, `sum(x)`."""
    node = code.expression
    call = code.tree.parents[node]
    if not isinstance(call, ast.Call) or call.args != [node]:
        raise DeclinedError("the body of the loop has no known form that works on all rows at once")
    match code.value(call.func), node:
        case External("builtins.sum"), _ if surely_tensor(code, node) and not call.keywords:
            total = code.make("{rows}.sum(0)", rows=node)
            return code.fix("Sum in one step, in a different order", code.replace(call, total), safe=False)
        case External("torch.tensor"), ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=count):
            if not code.surely(is_number, item) or not code.surely(is_whole, count):
                raise DeclinedError("it is not a list of one number")
            full, rest = code.name("torch.full"), call.keywords
            filled = code.make("{f}(({count},), {item}, {*rest})", f=full, count=count, item=item, rest=rest)
            # a list of no integers is a tensor of floats; `full` refuses numbers that the dtype cannot hold
            number = stated(code, item)
            has_dtype = any(k.arg == "dtype" for k in call.keywords)
            is_same = number is not None and abs(number) <= LARGEST and (has_dtype or isinstance(number, float))
            return code.fix(
                "Use `torch.full`",
                code.replace(call, filled),
                safe=is_same and is_natural(code, count) and is_whole_number(code, count),
            )
    raise DeclinedError(f"`{code.text(call.func)}` has no known form that takes any number of items")
