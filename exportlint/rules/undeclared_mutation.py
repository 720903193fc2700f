"""EXP908 undeclared-mutation: a custom operator that writes to an argument and does not say so."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.custom_ops import UndeclaredWrite
from exportlint.claims import INFO, WARNING, Claim, Context, Report
from exportlint.registry import rule

CLAIM = Claim(non_strict={(2, 4): WARNING, (2, 6): INFO}, strict={(2, 4): WARNING, (2, 6): INFO})


@rule("EXP908", "undeclared-mutation", UndeclaredWrite)
def undeclared_mutation(fact: UndeclaredWrite, context: Context) -> Iterator[Report]:
    """`x.add_(1)` in an operator with `mutates_args=()`."""
    severity = context.severity(CLAIM)
    if severity is not None:
        yield Report(
            severity,
            f"`{fact.api}` writes to an argument of `{fact.name}` that `mutates_args` does not name: "
            "what compiles the program may reorder or drop the write",
            "name the argument in `mutates_args`",
        )
