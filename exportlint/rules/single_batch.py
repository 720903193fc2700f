"""EXP406 single-batch: Python tells a size of 1 from larger ones."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes import SizeBranch
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.control_flow.cond import cond_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))


@rule("EXP406", "single-batch", SizeBranch)
def single_batch(fact: SizeBranch, context: Context) -> Iterator[Report]:
    """`if x.shape[0] == 1`, `if n > 1`."""
    severity = context.severity(CLAIM)
    if fact.test != "one" or fact.raises or severity is None:
        return
    yield Report(
        severity,
        "torch.export assumes that a dynamic size is at least 2: for a size of 1 the program silently takes the wrong "
        "branch",
        "write code that also works for 1, or export a second program for it",
        fix=lambda code: cond_fix(code, fact),
    )
