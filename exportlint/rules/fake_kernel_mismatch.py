"""EXP907 fake-kernel-mismatch: a fake kernel that returns something else than the operator."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.custom_ops import FakeResult
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

REFUSED = Claim(non_strict=always(ERROR), strict=always(ERROR))
SILENT = Claim(non_strict=always(WARNING), strict=always(WARNING))


@rule("EXP907", "fake-kernel-mismatch", FakeResult)
def fake_kernel_mismatch(fact: FakeResult, context: Context) -> Iterator[Report]:
    """A fake kernel that returns nothing, a number, another number of tensors, or its argument."""
    severity = context.severity(REFUSED if fact.what == "type" else SILENT)
    if severity is not None and not fact.guarded:
        yield Report(
            severity,
            f"the fake kernel of `{fact.name}` {fact.problem}, unlike the operator itself",
            "return a new empty tensor, `torch.empty_like(…)`, for each that the operator returns",
        )
