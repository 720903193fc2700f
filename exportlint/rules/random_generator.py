"""EXP505 random-generator: generators and seeds of torch in forward, which the program does not make anew."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse, Drawn
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.fixes.state.read_once import drawn_once
from exportlint.registry import rule

USED = Claim(non_strict={(2, 4): ERROR, (2, 13): WARNING}, strict=always(ERROR))
KEPT = Claim(non_strict={(2, 4): ERROR, (2, 13): INFO}, strict=always(ERROR))
SEED = Claim(non_strict=always(WARNING), strict=always(ERROR))
MADE = Claim(non_strict=always(INFO), strict=always(ERROR))


@rule("EXP505", "random-generator", Drawn, BakedUse)
def random_generator(fact: Drawn | BakedUse, context: Context) -> Iterator[Report]:
    """`torch.rand(4, generator=torch.Generator().manual_seed(0))`, `torch.manual_seed(0)`."""
    if fact.source != "generator":
        return
    if fact.api.endswith("manual_seed"):
        severity = context.severity(SEED)
        message = f"`{fact.api}` seeds once, at export: the exported program draws new numbers on each call"
        instead = "seed before calling the model, or keep the numbers you need in a buffer"
    elif isinstance(fact, BakedUse):
        severity = context.severity(USED if fact.drawn else KEPT)
        if severity is WARNING:
            message = (
                "the generator is created once, at export: the exported program keeps drawing from it, call after call"
            )
        else:
            message = "random numbers from a generator: strict mode and older versions of torch reject them"
        instead = "draw without `generator=`, or keep the numbers you need in a buffer"
    else:
        severity = context.severity(MADE)
        message = f"`{fact.api}` runs only while exporting, and strict mode rejects it"
        instead = "let the caller of the model manage the random state"
    if severity is not None:
        yield Report(severity, message, instead, fix=drawn_once)
