"""EXP604 swallowed-export-error: an `except` catches what torch.export raises, and its fallback is exported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exportlint.analysis.facts import Branch, Conversion, Copy, HostRead, ModuleChange
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always, fix_of
from exportlint.findings import Fix
from exportlint.fixes.edit.code import DISPLAY_ONLY, UNSAFE, Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule, rules_for

Swallowed = Branch | Conversion | HostRead | Copy | ModuleChange

CLAIM = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict=always(ERROR))
IN_STRICT_FINE = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict=always(None))
SYMBOLS = frozenset(
    {"int()", "float()", "operator.index()", "format specification", "len()", "torch.tensor()", "new_tensor()"}
)
"""Conversions that strict mode traces."""


@rule("EXP604", "swallowed-export-error", Branch, Conversion, HostRead, Copy, ModuleChange)
def swallowed_export_error(fact: Swallowed, context: Context) -> Iterator[Report]:
    """`try: if x.sum() > 0: … except Exception: …`, `try: x.numpy() … except RuntimeError: …`."""
    harmless = isinstance(fact, HostRead) and fact.api in {"item", "tolist"}
    severity = context.severity(IN_STRICT_FINE if _strict_traces(fact) else CLAIM)
    if severity is None or not fact.guarded or harmless or not _breaks(fact, context):
        return
    yield Report(
        severity,
        "torch.export fails here, the surrounding `except` catches the failure, and the fallback is exported instead",
        "move the decision on tensor data out of the `try`, or catch a narrower exception",
        fix=lambda code: _fix(code, fact, context),
    )


def _breaks(fact: Swallowed, context: Context) -> bool:
    """Whether some rule would report an error here if nothing caught it: not every torch fails."""
    bare = replace(fact, guarded=False)
    found = (report for rule in rules_for(type(fact)) for report in rule.check(bare, context))
    return any(report.severity is ERROR for report in found)


def _fix(code: Code, fact: Swallowed, context: Context) -> Fix:
    """What raised in eager too, and was caught, may do so no more: it is not safe."""
    if isinstance(fact, Conversion):
        raise DeclinedError("a tensor does not raise the exceptions that a Python number does")
    found = fix_of(fact, code, context)
    return found if found.applicability is DISPLAY_ONLY else replace(found, applicability=UNSAFE)


def _strict_traces(fact: Swallowed) -> bool:
    if isinstance(fact, Branch):
        return fact.construct in {"assert", "bool()"}
    if isinstance(fact, Conversion):
        return fact.target in SYMBOLS
    if isinstance(fact, ModuleChange):
        return not fact.casts
    return isinstance(fact, HostRead) and not fact.api.endswith(("equal", "allclose", "one_hot", "share_memory_"))
