"""EXP620 caught-type-error: an `except` catches that a module does not take an argument."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.tracing import MisfitCall
from exportlint.claims import ERROR, Claim, Context, Report
from exportlint.registry import rule

CLAIM = Claim(
    non_strict={(2, 4): None, (2, 6): ERROR}, strict={(2, 4): ERROR, (2, 9): None, (2, 13): ERROR, (2, 15): None}
)


@rule("EXP620", "caught-type-error", MisfitCall)
def caught_type_error(fact: MisfitCall, context: Context) -> Iterator[Report]:
    """`try: x = layer(x, lengths=lengths)`, `except TypeError: x = layer(x)`."""
    severity = context.severity(CLAIM)
    if severity is None:
        return
    what = "so many arguments" if fact.argument is None else f"`{fact.argument}`"
    yield Report(
        severity,
        f"`{fact.name}` does not take {what}: export fails though the TypeError is caught",
        "decide in `__init__` what each module is called with, or give them all the same parameters",
    )
