"""EXP810 program-device: a program is moved to a device after export."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.exports import ProgramMove
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP810", "program-device", ProgramMove)
def program_device(fact: ProgramMove, context: Context) -> Iterator[Report]:
    """`program.module().to("cuda")`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded or fact.device == "cpu":
        return
    message = (
        f"`.{fact.api}()` moves parameters and buffers; tensors that forward makes stay on the device of the export"
    )
    instead = "use `torch.export.passes.move_to_device_pass`, or export on the device where the program runs"
    yield Report(severity, message, instead)
