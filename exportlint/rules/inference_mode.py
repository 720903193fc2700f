"""EXP617 inference-mode: `torch.inference_mode()` in forward."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import FALSE
from exportlint.analysis.facts import Call
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.tracing.gradient_modes import no_grad
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))


@rule("EXP617", "inference-mode", Call)
def inference_mode(fact: Call, context: Context) -> Iterator[Report]:
    """`with torch.inference_mode():`, `@torch.inference_mode()`."""
    severity = context.severity(CLAIM)
    off = FALSE in (*fact.positional[:1], fact.keyword("mode"))
    if severity is not None and fact.name == "torch.inference_mode" and not off:
        yield Report(
            severity,
            "`inference_mode` is not exported: the exported program tracks gradients that the model does not",
            "use `torch.no_grad()`, which is exported",
            fix=no_grad,
        )
