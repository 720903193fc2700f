"""EXP503 clock-read: the time, which the program gets once."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse, Drawn
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.fixes.edit.attempts import declined
from exportlint.registry import rule

USED = Claim(non_strict=always(WARNING), strict=always(ERROR))
READ = Claim(non_strict=always(INFO), strict=always(ERROR))


@rule("EXP503", "clock-read", Drawn, BakedUse)
def clock_read(fact: Drawn | BakedUse, context: Context) -> Iterator[Report]:
    """`time.time()`, `time.perf_counter()`, `datetime.now()`, `time.sleep(1)`."""
    severity = context.severity(USED if isinstance(fact, BakedUse) else READ)
    if fact.source != "clock" or severity is None:
        return
    if severity is WARNING:
        message = f"`{fact.api}` is read once, at export: the time is baked in as a constant"
        yield Report(
            severity,
            message,
            "pass the time to `forward` as a tensor",
            fix=declined("only the caller of the program knows when it runs"),
        )
    elif severity is ERROR:
        message = f"`{fact.api}` in code that strict mode traces: Dynamo does not support it"
        yield Report(
            severity, message, "measure around the call to the model, or pass the time to `forward` as a tensor"
        )
    else:
        message = (
            f"`{fact.api}` runs only while exporting; the exported program reads no clock, and strict mode rejects "
            "the call"
        )
        yield Report(severity, message, "measure around the call to the model")
