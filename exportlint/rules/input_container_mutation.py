"""EXP304 input-container-mutation: a list or dictionary that the caller passed is changed."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import ContainerMutation
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 9): WARNING})


@rule("EXP304", "input-container-mutation", ContainerMutation)
def input_container_mutation(fact: ContainerMutation, context: Context) -> Iterator[Report]:
    """`inputs["y"] = x`, `states.append(x)` where `inputs` or `states` is an argument of `forward`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`{fact.api}` changes the caller's container `{fact.name}`: the exported program does not",
        "build a new container and return it",
    )
