"""EXP807 exported-program-call: an `ExportedProgram` is used as if it were a module."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.exports import ProgramCall
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP807", "exported-program-call", ProgramCall)
def exported_program_call(fact: ProgramCall, context: Context) -> Iterator[Report]:
    """`program(x)`, `program.to("cuda")`, `program.module().eval()`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    if fact.unlifted:
        message = f"the module of a program does not support `.{fact.method}()`: its mode is that of the exported model"
        instead = f"call `.{fact.method}()` on the model, before export"
    elif fact.method:
        message = f"an `ExportedProgram` is no module and has no `.{fact.method}()`"
        instead = f"write `program.module().{fact.method}(…)`"
        if fact.method in {"eval", "train"}:
            instead = f"call `.{fact.method}()` on the model, before export"
        elif fact.method == "forward":
            instead = "write `program.module()(…)`"
    else:
        message, instead = "an `ExportedProgram` cannot be called", "write `program.module()(…)`"
    yield Report(severity, message, instead)
