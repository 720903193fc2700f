"""EXP619 certain-raise: every call of the model ends in an exception."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.tracing import CertainRaise
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP619", "certain-raise", CertainRaise)
def certain_raise(fact: CertainRaise, context: Context) -> Iterator[Report]:
    """`def forward(self, x): raise NotImplementedError`, `assert False`, a helper that only raises."""
    severity = context.severity(CLAIM)
    if severity is not None:
        yield Report(
            severity,
            f"every call of `{fact.name}` raises here, and so does torch.export",
            "implement the method, or export a subclass that overrides it",
        )
