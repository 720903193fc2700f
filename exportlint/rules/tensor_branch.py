"""EXP101 tensor-branch: which way the code goes depends on the values of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar
from exportlint.analysis.facts import Branch
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.control_flow.truth import branch_fix
from exportlint.fixes.control_flow.vectorised import filter_fix
from exportlint.fixes.edit.code import Code
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
CONSTRUCTS = {
    "if": "`if`",
    "elif": "`elif`",
    "ternary": "conditional expression",
    "match": "`match`",
    "comprehension": "comprehension filter",
}


@rule("EXP101", "tensor-branch", Branch)
def tensor_branch(fact: Branch, context: Context) -> Iterator[Report]:
    """`if`, `elif`, `a if c else b`, `match`, the filter of a comprehension."""
    construct = CONSTRUCTS.get(fact.construct)
    severity = context.severity(CLAIM)
    if construct is None or severity is None or fact.guarded or fact.raises or _is_size(fact):
        return
    what = "a number read from a tensor" if isinstance(fact.condition, Scalar) else "tensor data"
    yield Report(
        severity,
        f"{construct} on {what}: torch.export cannot know which branch to take",
        "compute both branches and choose with `torch.where`, or use `torch.cond`",
        fix=lambda code: _fix(code, fact),
    )


def _fix(code: Code, fact: Branch) -> Fix:
    if fact.construct == "comprehension":
        return filter_fix(code, fact)
    return branch_fix(code, fact)


def _is_size(fact: Branch) -> bool:
    return isinstance(fact.condition, Scalar) and fact.condition.api == "size"
