"""EXP105 data-dependent-size: Python decides on a size that depends on the values of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar
from exportlint.analysis.facts import Branch, Conversion
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.control_flow.truth import branch_fix, condition_fix
from exportlint.fixes.edit.attempts import first_of
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
LENGTH = Claim(non_strict=always(ERROR), strict=always(None))


@rule("EXP105", "data-dependent-size", Branch, Conversion)
def data_dependent_size(fact: Branch | Conversion, context: Context) -> Iterator[Report]:
    """`if idx.numel() == 0` or `len(idx)` where `idx` is `mask.nonzero()`, `x[mask]` or `x[:n.item()]`."""
    if fact.guarded:
        return
    if isinstance(fact, Branch):
        severity = context.severity(CLAIM)
        is_size = isinstance(fact.condition, Scalar) and fact.condition.api == "size"
        if severity is None or not is_size or fact.construct in {"while", "assert"}:
            return
        yield Report(
            severity,
            "condition on a size that depends on tensor data: torch.export cannot choose a branch",
            "drop the special case for an empty selection, or mask instead of selecting",
            fix=lambda code: condition_fix(code, fact),
        )
    elif fact.target == "len()":
        severity = context.severity(LENGTH)
        if severity is not None:
            yield Report(
                severity,
                "`len()` of a tensor whose length depends on data: Python needs a concrete number, and torch.export "
                "has none",
                "use `.shape[0]`, which stays symbolic",
                fix=lambda code: first_of(code, fact, branch_fix, _length_fix),
            )


def _length_fix(code: Code, _: Conversion) -> Fix:
    call = code.node(ast.Call)
    if len(call.args) != 1:
        raise DeclinedError("it is not a call to `len`")
    if tensor(code, call.args[0]) is None:
        raise DeclinedError("it may not be the length of a tensor")
    size = code.make("{tensor}.shape[0]", tensor=call.args[0])
    return code.fix("Take the size from the shape", code.replace(call, size), safe=code.observed.complete)
