"""EXP703 baked-argument: arguments of `forward` that the exported program takes with one value only."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.boundary import Argument, Signature
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.registry import rule
from exportlint.rules.ignored_argument import is_ignored

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))
MAX_NAMES = 4


@rule("EXP703", "baked-argument", Signature)
def baked_argument(fact: Signature, context: Context) -> Iterator[Report]:
    """`def forward(self, x, mask=None, scale: float = 1.0, mode="linear")`."""
    severity = context.severity(CLAIM)
    baked = [argument for argument in fact.arguments if not is_ignored(argument)]
    if severity is None or not baked:
        return
    names = ", ".join(f"`{argument.name}` ({_constant(argument)})" for argument in baked[:MAX_NAMES])
    more = f" and {len(baked) - MAX_NAMES} more" if len(baked) > MAX_NAMES else ""
    yield Report(
        severity,
        f"the exported program accepts {names}{more} only as in the example inputs",
        "pass values that vary as tensors; omit arguments that are None at export, so that passing them later is an "
        "error",
        site=baked[0].site,
    )


def _constant(argument: Argument) -> str:
    return {"None": "given or None", "list": "its length"}.get(argument.type, argument.type)
