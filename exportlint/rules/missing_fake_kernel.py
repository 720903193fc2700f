"""EXP906 missing-fake-kernel: a custom operator that export cannot call."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.custom_ops import UnfakedCall
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP906", "missing-fake-kernel", UnfakedCall)
def missing_fake_kernel(fact: UnfakedCall, context: Context) -> Iterator[Report]:
    """A call of an operator under `torch.library.custom_op` without `register_fake`."""
    severity = context.severity(CLAIM)
    if severity is not None and not fact.guarded:
        yield Report(
            severity,
            f"the custom operator `{fact.name}` has no fake kernel: torch.export cannot tell what it returns",
            "register one with `torch.library.register_fake`, which makes an empty tensor like the result",
        )
