"""EXP618 strict-autocast: `torch.autocast` in forward, in strict mode."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import FALSE, Const
from exportlint.analysis.facts import Call
from exportlint.claims import ERROR, WARNING, Claim, Context, Report
from exportlint.registry import rule

CLAIM = Claim(
    non_strict={(2, 4): WARNING, (2, 6): None},
    strict={(2, 4): ERROR, (2, 6): None, (2, 9): WARNING},
)


@rule("EXP618", "strict-autocast", Call)
def strict_autocast(fact: Call, context: Context) -> Iterator[Report]:
    """`with torch.autocast("cpu", dtype=torch.bfloat16):`."""
    severity = context.severity(CLAIM)
    device = fact.positional[0] if fact.positional else fact.keyword("device_type")
    on_cpu = fact.name == "torch.autocast" and device == Const("cpu")
    if severity is None or fact.guarded or not (on_cpu or fact.name == "torch.cpu.amp.autocast"):
        return
    if fact.keyword("enabled") != FALSE:
        yield Report(
            severity,
            "strict mode exports `autocast` with dtype checks that fail when the program runs",
            "cast explicitly, or export in non-strict mode",
        )
