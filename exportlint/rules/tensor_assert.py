"""EXP104 tensor-assert: an `assert` on the values of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar
from exportlint.analysis.facts import Branch
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always, before
from exportlint.fixes.control_flow.checks import checked
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(None))
NEGATED = Claim(non_strict=always(ERROR), strict=always(ERROR))
ON_NUMBER = Claim(
    non_strict=before((2, 13)),
    strict={(2, 4): None, (2, 9): WARNING},
)
WITH_MESSAGE = Claim(
    non_strict=always(ERROR),
    strict={(2, 4): None, (2, 9): WARNING},
)

ON_FLOAT = Claim(
    non_strict=before((2, 13)),
    strict={(2, 4): None, (2, 6): ERROR, (2, 13): WARNING},
)
FLOAT_WITH_MESSAGE = Claim(
    non_strict=always(ERROR),
    strict={(2, 4): None, (2, 6): ERROR, (2, 13): WARNING},
)


@rule("EXP104", "tensor-assert", Branch)
def tensor_assert(fact: Branch, context: Context) -> Iterator[Report]:
    """`assert t.all()`, `assert t.item() > 0, "message"`, and what strict mode drops without a word."""
    if fact.construct != "assert" or fact.guarded:
        return
    severity = context.severity(_claim(fact))
    # strict mode keeps the check of a number that something else reads as well
    is_kept = isinstance(fact.condition, Scalar) and not fact.reads
    if severity is None or (severity is WARNING and is_kept):
        return
    if severity is WARNING:
        message = "`assert` on a number read from a tensor: the exported program does not check it"
    else:
        message = "`assert` on tensor data: torch.export cannot know whether it holds"
    instead = 'use `torch._assert_async(condition, "message")`, which stays in the program'
    yield Report(severity, message, instead, fix=checked)


def _claim(fact: Branch) -> Claim:
    if not isinstance(fact.condition, Scalar):
        return NEGATED if fact.negated or fact.message == "computed" else CLAIM
    if fact.message == "computed" or fact.negated:
        return NEGATED
    if fact.condition.kind == "float" or fact.condition.of_float:
        return ON_FLOAT if fact.message == "none" else FLOAT_WITH_MESSAGE
    return ON_NUMBER if fact.message == "none" else WITH_MESSAGE
