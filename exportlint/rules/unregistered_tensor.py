"""EXP311 unregistered-tensor: a tensor that is no buffer is changed in place."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.state import PlainTensorWrite
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(None))


@rule("EXP311", "unregistered-tensor", PlainTensorWrite)
def unregistered_tensor(fact: PlainTensorWrite, context: Context) -> Iterator[Report]:
    """`self.steps.add_(1)` where `self.steps` is a plain tensor."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`{fact.name}` is no buffer: export itself changes the tensor, and the program starts from the changed one",
        "register the tensor with `register_buffer` in `__init__`",
    )
