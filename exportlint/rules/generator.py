"""EXP505 generator: generators and seeds of torch in forward, which the program does not have."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse, Drawn
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

USED = Claim(non_strict={(2, 4): ERROR, (2, 13): WARNING}, strict=always(ERROR))
SEED = Claim(non_strict=always(WARNING), strict=always(ERROR))
MADE = Claim(non_strict=always(INFO), strict=always(ERROR))


@rule("EXP505", "generator", Drawn, BakedUse)
def generator(fact: Drawn | BakedUse, context: Context) -> Iterator[Report]:
    """`torch.rand(4, generator=torch.Generator().manual_seed(0))`, `torch.manual_seed(0)`."""
    if fact.source != "generator":
        return
    is_seed = fact.api.endswith("manual_seed")
    severity = context.severity(SEED if is_seed else USED if isinstance(fact, BakedUse) else MADE)
    if severity is None:
        return
    if is_seed:
        message = f"`{fact.api}` seeds once, at export: the program draws from the generator as it finds it"
        instead = "seed before the call of the model, or keep the numbers that you need in a buffer"
    else:
        message = f"`{fact.api}` is no part of the program, which draws from the default generator of its device"
        instead = "draw without `generator=` and seed before the call, or pass the random numbers to `forward`"
    yield Report(severity, message, instead)
