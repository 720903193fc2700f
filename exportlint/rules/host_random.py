"""EXP502 host-random: random numbers of Python and numpy, which the program gets once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from exportlint.analysis.domain.values import NONE
from exportlint.analysis.facts.environment import BakedUse, Drawn
from exportlint.analysis.library_functions import find, qualified
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.fixes.numbers.random_numbers import draw_with_torch
from exportlint.registry import rule

USED = Claim(non_strict=always(WARNING), strict=always(ERROR))
DRAWN = Claim(non_strict=always(INFO), strict=always(ERROR))
USED_TRACED = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 15): WARNING})
DRAWN_TRACED = Claim(non_strict=always(INFO), strict={(2, 4): ERROR, (2, 15): INFO})
BY_VERSION = {None: (USED, DRAWN), (2, 15): (USED_TRACED, DRAWN_TRACED)}
"""For numbers that are used, and others, by the first torch whose TorchDynamo traces the function."""
ARRAY = Claim(non_strict=always(WARNING), strict=always(WARNING))


@rule("EXP502", "host-random", Drawn, BakedUse)
def host_random(fact: Drawn | BakedUse, context: Context) -> Iterator[Report]:
    """`random.random()`, `np.random.rand()`, `uuid.uuid4()`, `secrets.randbelow(9)`."""
    function = find(qualified(fact.api))
    # of what strict mode traces, it bakes arrays, and does not see what returns nothing
    is_traced = function.strict == "bakes" and (fact.array or function.returns == NONE)
    is_use = isinstance(fact, BakedUse)
    if fact.source != "random" or (is_traced and not is_use):
        return
    used, drawn = BY_VERSION[function.traced_from]
    severity = context.severity(ARRAY if is_traced else used if is_use else drawn)
    if severity is WARNING:
        message = f"`{fact.api}` draws once, at export: the drawn value is baked in as a constant"
    elif severity is ERROR:
        message = f"`{fact.api}` in code that strict mode traces: Dynamo does not support Python's random numbers"
    else:
        message = f"`{fact.api}` runs only while exporting, and strict mode rejects it"
    if severity is not None:
        instead = "draw with `torch.rand`, `torch.randint` and the like, which stay in the program"
        yield Report(severity, message, instead, fix=partial(draw_with_torch, is_used=is_use))
