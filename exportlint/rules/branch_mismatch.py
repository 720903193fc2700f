"""EXP903 branch-mismatch: what the functions return does not fit what the operator makes of it."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.control_flow import BodyMismatch
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.fixes.control_flow.operator_results import mismatch_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
CARRY = Claim(non_strict={(2, 4): None, (2, 6): ERROR}, strict={(2, 4): None, (2, 6): ERROR})
SIZE = Claim(non_strict=always(ERROR), strict=always(None))

HELP = {
    "structure": "return the same number of tensors, in the same containers, from every branch",
    "type": "return tensors: `torch.tensor(…)` turns a number into one",
    "size": "return a tensor, or read the size after the call",
    "dtype": "cast both to the same dtype",
    "rank": "return tensors with the same number of dimensions",
    "carry dtype": "cast the results to the dtypes of the operands",
    "carry shape": "return a tensor of the same shape",
    "condition": "compare it with a number, which gives a bool tensor without dimensions",
}


@rule("EXP903", "branch-mismatch", BodyMismatch)
def branch_mismatch(fact: BodyMismatch, context: Context) -> Iterator[Report]:
    """`torch.cond(p, lambda x: (x + 1, x + 2), lambda x: x - 1, (x,))`."""
    claim = SIZE if fact.what == "size" else CARRY if fact.what.startswith("carry") else CLAIM
    severity = context.severity(claim)
    if severity is not None and not fact.guarded:
        message = f"`{fact.operator}`: {fact.problem}"
        yield Report(severity, message, HELP[fact.what], fix=lambda code: mismatch_fix(code, fact))
