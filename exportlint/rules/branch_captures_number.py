"""EXP905 branch-captures-number: a function uses a number that was read from a tensor outside of it."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.control_flow import BodyCapture
from exportlint.claims import ERROR, Claim, Context, Report, always, before
from exportlint.fixes.control_flow.operator_functions import captured_fix
from exportlint.registry import rule

FLOAT = Claim(non_strict=always(ERROR), strict=always(ERROR))
INT = Claim(non_strict=always(ERROR), strict=before((2, 6)))


@rule("EXP905", "branch-captures-number", BodyCapture)
def branch_captures_number(fact: BodyCapture, context: Context) -> Iterator[Report]:
    """`n = x.sum().item()` outside, `lambda x: x + n` inside."""
    severity = context.severity(FLOAT if fact.operand.kind == "float" else INT)
    if severity is not None and not fact.guarded:
        yield Report(
            severity,
            f"{fact.role} of `{fact.operator}` uses `{fact.name}`, a number read from a tensor outside that function",
            "use the tensor, or read the number inside the function",
            fix=lambda code: captured_fix(code, fact),
        )
