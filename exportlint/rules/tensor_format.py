"""EXP204 tensor-format: the value of a tensor is formatted as a number."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar
from exportlint.analysis.facts import Conversion
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.fixes.eager_only.reports import asks_exporting
from exportlint.fixes.eager_only.unused import left_out
from exportlint.registry import rule

SPECIFICATION = Claim(non_strict=always(ERROR), strict=always(INFO))
OF_NUMBER = Claim(non_strict=always(ERROR), strict={(2, 4): ERROR, (2, 13): INFO})
PERCENT = Claim(non_strict=always(ERROR), strict=always(ERROR))
LABELS = {
    "format specification": ("a format specification", SPECIFICATION),
    "format()": ("`format()`", PERCENT),
    "`%` formatting": ("`%` formatting", PERCENT),
    "json.dumps()": ("`json.dumps()`", PERCENT),
}


@rule("EXP204", "tensor-format", Conversion)
def tensor_format(fact: Conversion, context: Context) -> Iterator[Report]:
    """`f"{t:.2f}"`, `"%.2f" % t`, `"{:d}".format(n)`, `json.dumps(t.tolist())`."""
    label, claim = LABELS.get(fact.target, ("", None))
    if claim is SPECIFICATION and isinstance(fact.operand, Scalar):
        claim = OF_NUMBER
    severity = context.severity(claim) if claim is not None else None
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"{label} needs a tensor's concrete value, which is not known during export",
        f"format it under `if not {asks_exporting(context.version)}():`",
        fix=lambda code: left_out(code, code.expression, context.version),
    )
