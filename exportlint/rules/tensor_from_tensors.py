"""EXP207 tensor-from-tensors: a tensor is made from a Python list that holds traced tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.facts import Conversion
from exportlint.claims import ERROR, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import method
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.stacked import stacked
from exportlint.registry import rule

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

CLAIM = Claim(non_strict=always(ERROR), strict=always(None))
NEW_TENSOR = Claim(non_strict=always(ERROR), strict=before((2, 13)))
OTHERS = Claim(non_strict=always(ERROR), strict=always(ERROR))
CLAIMS = {"torch.tensor()": CLAIM, "torch.FloatTensor()": CLAIM, "new_tensor()": NEW_TENSOR}

CHECKS = frozenset({f"torch._check{kind}()" for kind in ("", "_value", "_index", "_type", "_not_implemented", "_with")})
CASTS = {"Tensor": "float", "FloatTensor": "float", "LongTensor": "long", "IntTensor": "int", "BoolTensor": "bool"}


@rule("EXP207", "tensor-from-tensors", Conversion)
def tensor_from_tensors(fact: Conversion, context: Context) -> Iterator[Report]:
    """`torch.tensor([x.sum(), x.max()])`."""
    if not fact.target.startswith(("torch.", "new_tensor")) or fact.target in CHECKS or fact.guarded:
        return
    severity = context.severity(CLAIMS.get(fact.target, OTHERS))
    if severity is None:
        return
    yield Report(
        severity,
        f"`{fact.target}` of a list with traced tensors needs their concrete values",
        "use `torch.stack([...])`, which stays in the graph",
        fix=_fix,
    )


def _fix(code: Code) -> Fix:
    call = code.node(ast.Call)
    if len(call.args) != 1 or any(keyword.arg not in {"dtype", "device"} for keyword in call.keywords):
        raise DeclinedError("the call has options that `torch.stack` does not have")
    new = _cast(code, call, stacked(code, call.args[0]))
    return code.fix("Stack the tensors, which also propagates gradients", code.replace(call, new), safe=False)


def _cast(code: Code, call: ast.Call, rows: Expression) -> Expression:
    """`rows.to(…)` what the call asks for."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else code.text(function)
    if name in CASTS:
        return method(rows, CASTS[name])
    options = [code.argument(keyword) for keyword in call.keywords]
    if name == "new_tensor" and isinstance(function, ast.Attribute):
        options.insert(0, code.concrete(function.value))
        if len(options) > 1:
            raise DeclinedError("the receiver and the keywords disagree")
    return method(rows, "to", *options) if options else rows
