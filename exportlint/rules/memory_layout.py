"""EXP510 memory-layout: strides and contiguity of an input go into what is computed."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))


@rule("EXP510", "memory-layout", BakedUse)
def memory_layout(fact: BakedUse, context: Context) -> Iterator[Report]:
    """`x.reshape(-1) + x.stride(0)`, `if x.is_contiguous():`."""
    severity = context.severity(CLAIM)
    if fact.source != "layout" or severity is None:
        return
    message = f"the {fact.api} of the example input are baked in: inputs laid out otherwise are treated like it"
    yield Report(severity, message, "make the layout yours: `x = x.contiguous()`")
