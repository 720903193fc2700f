"""EXP403 size-loop: Python does something once for each element of a dimension that varies."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.shapes.filled_lists import without_loop
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))
SPLIT = Claim(non_strict={(2, 4): None, (2, 9): WARNING}, strict={(2, 4): None, (2, 9): WARNING})
"""Up to torch 2.6 the number of parts is not part of the program."""
TARGETS = {
    "range()": "a loop over a size",
    "iteration": "a loop over the rows of a tensor",
    "unbind()": "`unbind()` along a dynamic dimension",
    "list repetition": "a list as long as a size",
}


@rule("EXP403", "size-loop", SizeConversion)
def size_loop(fact: SizeConversion, context: Context) -> Iterator[Report]:
    """`for row in x`, `range(x.shape[0])`, `[0] * n`, `x.unbind(0)`, `torch.split(x, n // 2)`."""
    what, claimed = TARGETS.get(fact.target), context.severity(SPLIT if fact.target == "split()" else CLAIM)
    severity, refusal = context.declared_severity(claimed, fact.declared, fixed=True)
    if severity is None or not fact.varies:
        return
    if fact.target == "split()":
        yield Report(
            severity,
            "the number of pieces is fixed: "
            + (refusal or "the exported program rejects sizes that `split()` cuts into more or fewer"),
            "use `chunk()` for a fixed number of pieces, or `view()` or `unfold()` for a fixed size",
        )
    elif what is not None:
        yield Report(
            severity,
            f"{what} is unrolled: " + (refusal or "the exported program accepts only that size"),
            "use an operator on the whole tensor, `torch.vmap`, or `torch.full` in place of a list of numbers",
            fix=without_loop,
        )
