"""EXP314 resized-tensor: a tensor that the call made gets other sizes in place."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Mutation
from exportlint.analysis.facts.state import Resize
from exportlint.analysis.values import Origin
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.registry import rule

RESIZE = Claim(non_strict=always(INFO), strict=always(ERROR))
OUT = Claim(non_strict=always(INFO), strict={(2, 4): INFO, (2, 6): ERROR})


@rule("EXP314", "resized-tensor", Mutation, Resize)
def resized_tensor(fact: Mutation | Resize, context: Context) -> Iterator[Report]:
    """`y.resize_(2, 6)`, `torch.add(x, 1, out=torch.empty(0))`."""
    if isinstance(fact, Mutation):
        if fact.api not in {"resize_", "resize_as_"} or fact.target.origin is Origin.INPUT:
            return
        message, claim = f"`{fact.api}` changes the sizes of a tensor in place", RESIZE
        instead = "use `reshape`, or make a tensor of the sizes that are wanted"
    else:
        message, claim = "`out=` gets a tensor without elements, whose sizes the operator must change", OUT
        instead = "take what the operator returns instead"
    severity = context.severity(claim)
    if severity is not None and not (fact.guarded and severity is not ERROR):
        yield Report(severity, message, instead)
