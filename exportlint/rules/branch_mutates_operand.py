"""EXP901 branch-mutates-operand: a function that an operator runs changes what is not its own."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.control_flow import BodyWrite
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.fixes.control_flow.operator_functions import copy_fix
from exportlint.registry import rule

COND = Claim(
    non_strict={(2, 4): WARNING, (2, 6): None, (2, 9): ERROR}, strict={(2, 4): WARNING, (2, 6): None, (2, 9): ERROR}
)
LOOP = Claim(
    non_strict={(2, 4): ERROR, (2, 6): None, (2, 9): ERROR}, strict={(2, 4): ERROR, (2, 6): None, (2, 9): ERROR}
)
WHILE = Claim(non_strict={(2, 4): WARNING, (2, 6): ERROR}, strict={(2, 4): WARNING, (2, 6): None, (2, 9): ERROR})
WRITES = {"torch.cond": COND, "while_loop": WHILE}
STATE = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP901", "branch-mutates-operand", BodyWrite)
def branch_mutates_operand(fact: BodyWrite, context: Context) -> Iterator[Report]:
    """`torch.cond(p, lambda x: x.add_(1), f, (x,))`, and `calls.append(1)` in a branch."""
    claim = WRITES.get(fact.operator, LOOP) if fact.is_tensor else STATE
    severity = context.severity(claim)
    if severity is None or fact.guarded:
        return
    where = f"{fact.role} of `{fact.operator}`"
    if fact.is_tensor:
        message = f"`{fact.api}` in {where} writes to {fact.what}, which is read-only there"
        instead = "use the operator without the underscore, write to a clone, or write after the call"
    else:
        message = f"`{fact.api}` in {where} changes {fact.what}, which is defined outside it"
        instead = "return the new value, and change the state after the call"
    yield Report(severity, message, instead, fix=lambda code: copy_fix(code, fact))
