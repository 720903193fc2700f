"""EXP902 branch-aliases-operand: a function that an operator runs returns a tensor that is not its own."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.control_flow import BodyAlias
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.fixes.control_flow.operator_functions import clone_fix
from exportlint.registry import rule

CLAIM = Claim(
    non_strict={(2, 4): ERROR, (2, 6): None, (2, 9): ERROR}, strict={(2, 4): ERROR, (2, 6): None, (2, 9): ERROR}
)
WHILE = Claim(non_strict=always(ERROR), strict={(2, 4): ERROR, (2, 6): None, (2, 9): ERROR})


@rule("EXP902", "branch-aliases-operand", BodyAlias)
def branch_aliases_operand(fact: BodyAlias, context: Context) -> Iterator[Report]:
    """`torch.cond(p, lambda x: x, f, (x,))`: a branch returns an operand, a view of one, or one tensor twice."""
    severity = context.severity(WHILE if fact.operator == "while_loop" else CLAIM)
    if severity is None or fact.guarded:
        return
    where = f"{fact.role} of `{fact.operator}`"
    if fact.is_own:
        message, instead = f"{where} returns {fact.what} twice", "return a `.clone()` the second time"
    else:
        message, instead = f"{where} returns {fact.what}, or a view of it", "return a `.clone()`"
    yield Report(severity, message, instead, fix=lambda code: clone_fix(code, fact))
