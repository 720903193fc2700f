"""EXP610 autograd-function: a `torch.autograd.Function` with a backward of its own is applied."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.tracing import FunctionApplied
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP610", "autograd-function", FunctionApplied)
def autograd_function(fact: FunctionApplied, context: Context) -> Iterator[Report]:
    """`Round.apply(x)`."""
    severity = context.severity(CLAIM)
    if severity is not None:
        yield Report(
            severity,
            f"the custom `backward` of `{fact.name}` is dropped: the exported program differentiates its `forward` "
            "instead",
            "build the gradient from operators: `x + (x.round() - x).detach()`, or use `torch.library.custom_op`",
        )
