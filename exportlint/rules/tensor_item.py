"""EXP201 tensor-item: `.item()` and `.tolist()`, which today's torch exports."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import HostRead
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))
LIST_OF_FLOATS = Claim(non_strict=always(INFO), strict=always(ERROR))


@rule("EXP201", "tensor-item", HostRead)
def tensor_item(fact: HostRead, context: Context) -> Iterator[Report]:
    """`x.item()`, `x.tolist()`."""
    is_float_list = fact.api == "tolist" and fact.operand.kind == "float"
    severity = context.severity(LIST_OF_FLOATS if is_float_list else CLAIM)
    if fact.api not in {"item", "tolist"} or severity is None:
        return
    if severity is ERROR:
        message = "`.tolist()` of a tensor of floats: strict mode has no symbols for them"
    else:
        message = f"`.{fact.api}()` makes an unbacked symbol: it exports, until Python needs its value"
    yield Report(
        severity,
        message,
        "stay with the tensor where an operator takes it",
    )
