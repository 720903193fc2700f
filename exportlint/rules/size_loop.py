"""EXP403 size-loop: Python does something once for each element of a dimension that varies."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import External
from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.result_shapes import LARGEST
from exportlint.fixes.proofs.size_values import is_natural, is_number, is_whole
from exportlint.fixes.proofs.stated_numbers import is_whole_number, stated
from exportlint.fixes.proofs.tensor_evidence import surely_tensor
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))
TARGETS = {
    "range()": "a loop over a size",
    "iteration": "a loop over the rows of a tensor",
    "unbind()": "`unbind()` along a dimension that varies",
    "split()": "`split()` along a dimension that varies",
    "list repetition": "a list as long as a size",
}


@rule("EXP403", "size-loop", SizeConversion)
def size_loop(fact: SizeConversion, context: Context) -> Iterator[Report]:
    """`for row in x`, `range(x.shape[0])`, `[0] * n`, `x.unbind(0)`, `torch.split(x, n // 2)`."""
    what, severity = TARGETS.get(fact.target), context.severity(CLAIM)
    if what is not None and severity is not None and fact.varies:
        yield Report(
            severity,
            f"{what} is unrolled: the program is for that one size",
            "use an operator on the whole tensor, `torch.vmap`, or `torch.full` for a list of numbers",
            fix=_fix,
        )


def _fix(code: Code) -> Fix:
    """`torch.tensor([1.0] * n)`, `sum(x)`."""
    node = code.expression
    call = code.tree.parents[node]
    if not isinstance(call, ast.Call) or call.args != [node]:
        raise DeclinedError("it takes a loop")
    match code.value(call.func), node:
        case External("builtins.sum"), _ if surely_tensor(code, node) and not call.keywords:
            total = code.make("{rows}.sum(0)", rows=node)
            return code.fix("Sum in one step, in another order", code.replace(call, total), safe=False)
        case External("torch.tensor"), ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=count):
            if not code.surely(is_number, item) or not code.surely(is_whole, count):
                raise DeclinedError("it is no list of one number")
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
    raise DeclinedError("it takes a loop")
