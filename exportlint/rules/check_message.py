"""EXP613 check-message: strict mode must make a constant of the message of `torch._check`."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.tracing import CheckMessage
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(None), strict=always(ERROR))


@rule("EXP613", "check-message", CheckMessage)
def check_message(fact: CheckMessage, context: Context) -> Iterator[Report]:
    """`torch._check(x.shape[0] > 2, lambda: f"got {x.shape[0]}")`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    shown = f"uses `{fact.captured}`" if fact.captured else f"is {fact.problem}"
    yield Report(
        severity,
        f"the message of `torch._check` {shown}: strict mode takes a function of constants only",
        "drop the message, or pass a `lambda` that returns a constant string",
    )
