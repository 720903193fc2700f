"""EXP104 tensor-assert: an `assert` on the values of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Branch
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(None))
ON_NUMBER = Claim(
    non_strict={(2, 4): ERROR, (2, 13): None},
    strict={(2, 4): None, (2, 6): ERROR, (2, 13): WARNING},
)


@rule("EXP104", "tensor-assert", Branch)
def tensor_assert(fact: Branch, context: Context) -> Iterator[Report]:
    """`assert t.all()`, and `assert t.item() > 0`, which strict mode drops without a word."""
    if fact.construct != "assert" or fact.guarded:
        return
    severity = context.severity(ON_NUMBER if fact.checked else CLAIM)
    if severity is None:
        return
    if severity is WARNING:
        message = "`assert` on a number read from a tensor: the exported program does not check it"
    else:
        message = "`assert` on tensor data: torch.export cannot know whether it holds"
    yield Report(severity, message, 'use `torch._assert_async(condition, "message")`, which stays in the program')
