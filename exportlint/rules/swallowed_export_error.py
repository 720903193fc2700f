"""EXP604 swallowed-export-error: an `except` catches what torch.export raises, and its fallback is exported."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Branch, Conversion, Copy, HostRead
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict=always(ERROR))
IN_STRICT_FINE = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict=always(None))
SYMBOLS = frozenset({"int()", "float()", "operator.index()", "format specification", "len()", "torch.tensor()"})
"""Conversions that strict mode traces."""


@rule("EXP604", "swallowed-export-error", Branch, Conversion, HostRead, Copy)
def swallowed_export_error(fact: Branch | Conversion | HostRead | Copy, context: Context) -> Iterator[Report]:
    """`try: if x.sum() > 0: … except Exception: …`, `try: x.numpy() … except RuntimeError: …`."""
    harmless = isinstance(fact, HostRead) and fact.api in {"item", "tolist"}
    severity = context.severity(IN_STRICT_FINE if _strict_traces(fact) else CLAIM)
    if severity is None or not fact.guarded or harmless:
        return
    yield Report(
        severity,
        "torch.export fails here, the `except` around it catches that, and the fallback is exported in its place",
        "take the decision on tensor data out of the `try`, or catch a narrower exception",
    )


def _strict_traces(fact: Branch | Conversion | HostRead | Copy) -> bool:
    if isinstance(fact, Branch):
        return fact.construct in {"assert", "bool()"}
    if isinstance(fact, Conversion):
        return fact.target in SYMBOLS
    return isinstance(fact, HostRead) and not fact.api.endswith(("equal", "allclose", "one_hot"))
