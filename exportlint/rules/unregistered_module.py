"""EXP310 unregistered-module: modules and parameters that the module which uses them has not registered."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.state import Unregistered
from exportlint.claims import ERROR, WARNING, Claim, Context, Report
from exportlint.registry import rule

STRICT = {(2, 4): ERROR, (2, 15): WARNING}
CLAIM = Claim(non_strict={(2, 4): None, (2, 6): WARNING}, strict=STRICT)
FROZEN = Claim(non_strict={(2, 4): None}, strict={(2, 4): ERROR, (2, 15): None})

WHERE = {
    "list": "in a plain list", "dict": "in a plain dict", "object": "in an object that is no module",
    "class": "in a class attribute", "global": "in a variable of the file",
}  # fmt: skip


@rule("EXP310", "unregistered-module", Unregistered)
def unregistered_module(fact: Unregistered, context: Context) -> Iterator[Report]:
    """`self.layers = [nn.Linear(4, 4)]`, `self.weights = (nn.Parameter(w),)`."""
    severity = context.severity(CLAIM if fact.trained else FROZEN)
    if severity is None:
        return
    what = "modules" if fact.modules else "parameters"
    message = f"`{fact.name}` holds {what} {WHERE[fact.holder]}: export does not see that they have parameters"
    if fact.holder in {"list", "dict"}:
        kind = "List" if fact.holder == "list" else "Dict"
        instead = f"hold them in an `nn.{'Module' if fact.modules else 'Parameter'}{kind}`"
    else:
        instead = "assign them to attributes of the module in `__init__`"
    yield Report(severity, message, instead)
