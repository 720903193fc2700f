"""EXP812 shared-input: one tensor is the example for several inputs."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.exports import ExportCall
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.export_calls.example_arguments import with_clones
from exportlint.registry import rule

CLAIM = Claim(non_strict={(2, 4): None, (2, 6): WARNING}, strict=always(WARNING))


@rule("EXP812", "shared-input", ExportCall)
def shared_input(fact: ExportCall, context: Context) -> Iterator[Report]:
    """`torch.export.export(attention, (x, x, x))`."""
    severity = context.severity(CLAIM)
    if severity is None or not fact.shared:
        return
    name, place = fact.shared[0]
    message = f"`{name}` is the example for several inputs: the exported program takes them for one"
    sites = [site for _, site in fact.shared]
    yield Report(severity, message, "pass each input a tensor of its own", place, lambda code: with_clones(code, sites))
