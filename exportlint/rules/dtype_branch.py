"""EXP506 dtype-branch: Python decides on the dtype of an input."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))
BESIDE_PARAMETERS = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP506", "dtype-branch", BakedUse)
def dtype_branch(fact: BakedUse, context: Context) -> Iterator[Report]:
    """`if mask.dtype == torch.bool:` where the arms compute different things."""
    if fact.source != "dtype" or fact.use != "branch":
        return
    # what meets floating parameters has their dtype: another one is refused by eager as well
    given_by_parameters = fact.fixed and fact.kind not in {"int", "bool"}
    severity = context.severity(BESIDE_PARAMETERS if given_by_parameters else CLAIM)
    if severity is None:
        return
    if given_by_parameters:
        message = "the dtype at export decides for good: a program that is cast to another one keeps to this branch"
    else:
        message = "the dtype of the example input decides for good: other dtypes take its branch, and nothing checks it"
    yield Report(severity, message, "export one program for each dtype, or cast the input before")
