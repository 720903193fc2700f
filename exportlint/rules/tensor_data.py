"""EXP301 tensor-data: `.data` of a traced tensor reaches an operator."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import DataRead
from exportlint.claims import ERROR, WARNING, Claim, Context, Report
from exportlint.fixes.state.detached_data import as_detached
from exportlint.registry import rule

CLAIM = Claim(
    non_strict={(2, 4): ERROR, (2, 6): WARNING, (2, 13): ERROR},
    strict={(2, 4): None, (2, 6): WARNING},
)


@rule("EXP301", "tensor-data", DataRead)
def tensor_data(fact: DataRead, context: Context) -> Iterator[Report]:
    """`y.data + 1`, `x.data.mul_(2)`, `self.buffer.data.copy_(x)`."""
    severity = context.severity(CLAIM)
    if severity is None:  # an `except` does not help: torch.export fails when it is done with the code
        return
    if fact.mutates:
        message = f"`.data` is changed by `{fact.operation}`: torch.export does not see the write"
        instead = "drop `.data`; for parameters, write under `torch.no_grad()`; for buffers, use `copy_`"
    else:
        message = "`.data` hides the tensor from torch.export: computations on it are not part of the exported program"
        instead = "use `.detach()`"
    yield Report(severity, message, instead, fix=lambda code: as_detached(code, fact))
