"""EXP510 memory-layout: strides and contiguity of an input go into what is computed."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.edit.attempts import declined
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))


@rule("EXP510", "memory-layout", BakedUse)
def memory_layout(fact: BakedUse, context: Context) -> Iterator[Report]:
    """`x.reshape(-1) + x.stride(0)`, `if x.is_contiguous():`."""
    severity = context.severity(CLAIM)
    if fact.source != "layout" or severity is None:
        return
    message = f"export bakes in the {fact.api} of the example input, and no guard rejects inputs with another layout"
    yield Report(
        severity,
        message,
        "fix the layout first: `x = x.contiguous()`",
        fix=declined("an exported program cannot branch on the layout of its inputs"),
    )
