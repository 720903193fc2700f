"""EXP511 gradient-branch: Python decides on whether an input requires gradients."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.edit.attempts import declined
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))


@rule("EXP511", "gradient-branch", BakedUse)
def gradient_branch(fact: BakedUse, context: Context) -> Iterator[Report]:
    """`if x.requires_grad:` where the arms compute different things."""
    severity = context.severity(CLAIM)
    if fact.source != "gradient" or fact.use != "branch" or severity is None:
        return
    message = f"{fact.api} of the example input chooses the branch at export, and no guard rejects other inputs"
    yield Report(
        severity,
        message,
        "decide by an argument or a setting, not by `requires_grad`",
        fix=declined("an exported program cannot branch on `requires_grad` of its inputs"),
    )
