"""EXP807 exported-program-call: an `ExportedProgram` is used as if it were a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.exports import ProgramCall
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP807", "exported-program-call", ProgramCall)
def exported_program_call(fact: ProgramCall, context: Context) -> Iterator[Report]:
    """`program(x)`, `program.to("cuda")`, `program.module().eval()`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    if fact.unlifted:
        message = (
            f"the module of an exported program does not support `.{fact.method}()`: it keeps the mode it had at export"
        )
        instead = f"call `.{fact.method}()` on the model, before export"
    elif fact.method:
        message = f"an `ExportedProgram` is not a module and has no `.{fact.method}()`"
        instead = f"write `program.module().{fact.method}(…)`"
        if fact.method in {"eval", "train"}:
            instead = f"call `.{fact.method}()` on the model, before export"
        elif fact.method == "forward":
            instead = "write `program.module()(…)`"
    else:
        message, instead = "an `ExportedProgram` cannot be called", "write `program.module()(…)`"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _fix(code: Code, fact: ProgramCall) -> Fix:
    """A call of a program raises, so it is safe to make another one of it."""
    call = code.node(ast.Call)
    if fact.unlifted or fact.method in {"eval", "train"}:
        raise DeclinedError("the program keeps the mode of the model at export")
    program = call.func
    if fact.method and isinstance(program, ast.Attribute):
        program = program.value
    module = code.make("{program}.module()", program=program)
    replaced = call.func if fact.method == "forward" else program
    return code.fix(
        "Use the module of the program", code.replace(replaced, module), safe=fact.method in {"", "forward"}
    )
