"""EXP604 swallowed-export-error: an `except` catches what torch.export raises, and its fallback is exported."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Branch, Conversion
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict=always(ERROR))


@rule("EXP604", "swallowed-export-error", Branch, Conversion)
def swallowed_export_error(fact: Branch | Conversion, context: Context) -> Iterator[Report]:
    """`try: if x.sum() > 0: … except Exception: …`."""
    severity = context.severity(CLAIM)
    if severity is None or not fact.guarded:
        return
    yield Report(
        severity,
        "torch.export fails here, the `except` around it catches that, and the fallback is exported in its place",
        "take the decision on tensor data out of the `try`, or catch a narrower exception",
    )
