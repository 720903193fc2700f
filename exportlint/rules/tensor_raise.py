"""EXP603 tensor-raise: an exception that depends on the values of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar
from exportlint.analysis.facts import Branch
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.fixes.control_flow.checks import checked
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP603", "tensor-raise", Branch)
def tensor_raise(fact: Branch, context: Context) -> Iterator[Report]:
    """`if torch.isnan(x).any(): raise ValueError(...)`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded or not fact.raises:
        return
    if isinstance(fact.condition, Scalar):
        if fact.condition.api == "size":
            return
        instead = "use `torch._check(not condition)`, without a message if you export with `strict=True`"
    else:
        instead = 'use `torch._assert_async(~condition, "message")`, which stays in the program'
    message = "`raise` under a condition on tensor data: torch.export cannot know whether it holds"
    yield Report(severity, message, instead, fix=checked)
