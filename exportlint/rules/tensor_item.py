"""EXP201 tensor-item: `.item()` and `.tolist()`, which today's torch exports."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import HostRead
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP201", "tensor-item", HostRead)
def tensor_item(fact: HostRead, context: Context) -> Iterator[Report]:
    """`x.item()`, `x.tolist()`."""
    severity = context.severity(CLAIM)
    if fact.api not in {"item", "tolist"} or severity is None:
        return
    yield Report(
        severity,
        f"`.{fact.api}()` makes an unbacked symbol: it exports, until Python needs its value",
        "stay with the tensor where an operator takes it",
    )
