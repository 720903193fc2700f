"""EXP201 tensor-item: `.item()` and `.tolist()`, which today's torch exports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import HostRead
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import method
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.operands import is_scalar
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))
OTHER_LIST = Claim(non_strict=always(INFO), strict=always(ERROR))

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@rule("EXP201", "tensor-item", HostRead)
def tensor_item(fact: HostRead, context: Context) -> Iterator[Report]:
    """`x.item()`, `x.tolist()`."""
    is_other_list = fact.api == "tolist" and fact.operand.kind in {"float", "bool"}
    severity = context.severity(OTHER_LIST if is_other_list else CLAIM)
    if fact.api not in {"item", "tolist"} or severity is None:
        return
    if severity is ERROR:
        message = f"`.tolist()` of a tensor of {fact.operand.kind}s: strict mode has symbols only for integers"
    else:
        message = f"`.{fact.api}()` creates an unbacked symbol: this exports until Python needs its value"
    yield Report(
        severity,
        message,
        "keep the tensor where an operator accepts it",
        fix=_fix if fact.api == "item" else None,
    )


def _fix(code: Code) -> Fix:
    call = code.node(ast.Call)
    if not isinstance(call.func, ast.Attribute) or not _meets_tensor(code, call):
        raise DeclinedError("the code needs a number")
    held = tensor(code, call.func.value)
    if held is None or held.assumed or not is_scalar(code, call.func.value):
        raise DeclinedError("the tensor may have dimensions")
    kept = code.concrete(call.func.value)
    if held.kind not in {"int", "bool"} and not held.detached:
        kept = method(kept, "detach")
    return code.fix("Compute with the tensor, whose dtype may differ", code.replace(call, kept), safe=False)


def _meets_tensor(code: Code, call: ast.Call) -> bool:
    """Whether a number is an operand next to a tensor."""
    parent = code.tree.parents[call]
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ARITHMETIC):
        return False
    other = tensor(code, parent.right if parent.left is call else parent.left)
    return other is not None and not other.assumed
