"""EXP611 caught-operator-error: an `except` chooses another way where an operator fails."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.tracing import CaughtOperator
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP611", "caught-operator-error", CaughtOperator)
def caught_operator_error(_: CaughtOperator, context: Context) -> Iterator[Report]:
    """`try: y = x.view(3, -1)`, `except RuntimeError: y = x.flatten()`."""
    severity = context.severity(CLAIM)
    if severity is not None:
        yield Report(
            severity,
            "whether this operator fails is decided at export: only the branch taken then is exported, and an "
            "operator that failed stays in the program",
            "test the shapes first: `if x.shape[0] % 3 == 0:`",
        )
