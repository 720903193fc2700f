"""EXP105 data-dependent-size: Python decides on a size that depends on the values of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Branch, Conversion
from exportlint.analysis.values import Scalar
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.fixes.empty_selections import empty_selection_fix
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
            "condition on a size that depends on tensor data: torch.export cannot know which way to go",
            "drop the special case for an empty selection, or mask instead of selecting",
            fix=lambda code: empty_selection_fix(code, fact),
        )
    elif fact.target == "len()":
        severity = context.severity(LENGTH)
        if severity is not None:
            yield Report(
                severity,
                "`len()` of a tensor whose length depends on data: torch.export has no number for it",
                "use `.shape[0]`, which stays symbolic",
            )
