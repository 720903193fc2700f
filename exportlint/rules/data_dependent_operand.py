"""EXP107 data-dependent-operand: an operator must know a size that depends on the values of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes_needed import SizeNeed
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
INSTEAD = {
    "logsumexp": "set what is not selected to `-inf` with `masked_fill` instead of selecting",
    "chunk": "slice: `x[:n], x[n:]`",
    "unbind": "work on the whole tensor, or select with a size that is known",
}


@rule("EXP107", "data-dependent-operand", SizeNeed)
def data_dependent_operand(fact: SizeNeed, context: Context) -> Iterator[Report]:
    """`torch.logsumexp(x[mask], 0)`, `x[mask].chunk(2)`, `self.lstm(x[mask])`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`{fact.api}` must know a size of its operand, which depends on tensor data",
        INSTEAD.get(fact.api, "mask instead of selecting, or promise with `torch._check` that it is not empty"),
    )
