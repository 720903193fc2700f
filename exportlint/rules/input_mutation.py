"""EXP303 input-mutation: an input is changed in place."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Mutation
from exportlint.analysis.values import Origin
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))
METADATA = Claim(non_strict={(2, 4): ERROR, (2, 6): INFO}, strict=always(ERROR))
UNSQUEEZE = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP303", "input-mutation", Mutation)
def input_mutation(fact: Mutation, context: Context) -> Iterator[Report]:
    """`x += 1`, `x[0] = 5`, `x.add_(1)`, `out=x`, `x.t_()` for an input `x`."""
    target = fact.target
    if target.origin is not Origin.INPUT or target.data is not None or (fact.metadata and not target.name):
        return  # what changes the sizes of a view of the input leaves the input as it is
    severity = context.severity(UNSQUEEZE if fact.api == "unsqueeze_" else METADATA if fact.metadata else CLAIM)
    if severity is None or (fact.guarded and severity is not ERROR):
        return
    name = f"the input `{target.name}`" if target.name else "an input"
    if fact.metadata:
        message = f"`{fact.api}` changes the sizes or the storage of {name} in place"
        instead = "use the operator without the underscore, and bind the result to a name"
    else:
        message = f"`{fact.api}` writes to {name}: the exported program writes to the caller's tensor too"
        instead = "clone the input first, unless the caller is meant to see the write"
    yield Report(severity, message, instead)
