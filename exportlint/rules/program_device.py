"""EXP810 program-device: a program is moved to a device after export."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.exports import ProgramMove
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import string
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP810", "program-device", ProgramMove)
def program_device(fact: ProgramMove, context: Context) -> Iterator[Report]:
    """`program.module().to("cuda")`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded or fact.device == "cpu":
        return
    message = (
        f"`.{fact.api}()` moves parameters and buffers only: tensors created in forward stay on the device used at "
        "export"
    )
    instead = "use `torch.export.passes.move_to_device_pass`, or export on the device where the program will run"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact, context))


NAME = "move_to_device_pass"
SINCE: TorchVersion = (2, 7)
"""The first torch that has it."""


def _fix(code: Code, fact: ProgramMove, context: Context) -> Fix:
    """Not safe: the pass changes the program itself."""
    call = code.node(ast.Call)
    program = _program(call)
    if program is None or context.version < SINCE:
        raise DeclinedError("the program is not written in the call")
    if fact.api == "to" and len(call.args) == 1 and not call.keywords:
        device = code.concrete(call.args[0])
    elif fact.api != "to" and not call.args and not call.keywords:
        device = string(fact.api)
    else:
        raise DeclinedError("the device is not written in the call")
    moved = code.replace(
        call, code.make("{move}({program}, {device}).module()", move=NAME, program=program, device=device)
    )
    return code.fix("Move the program", moved, *_imported(code, call), safe=False)


def _program(call: ast.Call) -> ast.expr | None:
    """The program in `program.module().to(…)`."""
    module = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(module, ast.Call) and isinstance(module.func, ast.Attribute) and module.func.attr == "module":
        return module.func.value if not module.args and not module.keywords else None
    return None


def _imported(code: Code, call: ast.Call) -> Iterator[Draft]:
    """The import of the pass: `import torch` does not bring it."""
    if code.spelled(f"torch.export.passes.{NAME}", call) == NAME:
        return
    if NAME in code.module.bindings:
        raise DeclinedError(f"`{NAME}` means something else here")
    yield code.import_line(NAME, "torch.export.passes")
