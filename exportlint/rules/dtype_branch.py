"""EXP506 dtype-branch: Python decides on the dtype of an input."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.fixes.edit.attempts import declined
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
        message = "the branch for the dtype at export is baked in: a program that is cast to another dtype keeps it"
    else:
        message = "the branch for the example input's dtype is baked in, and no guard rejects other dtypes"
    yield Report(
        severity,
        message,
        "export one program per dtype, or cast the input first",
        fix=declined("an exported program cannot branch on the dtype of its inputs"),
    )
