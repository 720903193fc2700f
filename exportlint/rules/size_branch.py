"""EXP401 size-branch: Python decides on a size that varies from call to call."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes import SizeBranch
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.fixes.control_flow.cond import cond_fix
from exportlint.fixes.edit.attempts import first_of
from exportlint.fixes.shapes.size_branches import without_condition
from exportlint.registry import rule

BRANCH = Claim(non_strict=always(WARNING), strict=always(WARNING))
SYMBOLS = frozenset({"bool()", "comparison", "number"})
"""Constructs that strict mode may leave open."""
CHECK = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP401", "size-branch", SizeBranch)
def size_branch(fact: SizeBranch, context: Context) -> Iterator[Report]:
    """`if x.shape[0] > 5`, and `if x.shape[0] != 3: raise`, which leaves one size."""
    is_check = fact.raises and fact.test == "constant"
    claimed = context.severity(CHECK if is_check else BRANCH)
    is_symbol = context.mode == "strict" and fact.construct in SYMBOLS
    declared = "auto" if is_symbol else fact.declared
    severity, refusal = context.declared_severity(
        claimed, declared, fixed=fact.test == "constant" and fact.construct != "in"
    )
    if fact.test == "one" or severity is None or (fact.raises and not is_check and not refusal):
        return
    if is_check:
        message = "the code requires one value for this size, so it cannot be dynamic"
        yield Report(severity, f"{message}: {refusal}" if refusal else message, "allow a range")
    elif fact.raises:
        yield Report(
            severity,
            f"the code raises for some sizes of this dimension: {refusal}",
            'give the `Dim` bounds that the code allows: `Dim("n", min=..., max=...)`',
        )
    elif fact.construct == "number":
        yield Report(
            severity,
            "a comparison of sizes is used as a plain number: "
            + (refusal or "export fails, or the program rejects sizes for which the comparison gives another result"),
            "avoid the comparison (`torch.sym_max`, a mask), or choose with `torch.cond`",
        )
    else:
        yield Report(
            severity,
            "condition on a size: "
            + (refusal or "only one branch is exported, and the program rejects sizes that need the other"),
            "avoid the condition (`torch.sym_max`, `F.pad`, a mask), or choose with `torch.cond`",
            fix=lambda code: first_of(code, fact, without_condition, cond_fix),
        )
