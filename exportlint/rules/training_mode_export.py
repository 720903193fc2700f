"""EXP806 training-mode-export: a model is exported before `.eval()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.exports import Evaluated, ExportCall
from exportlint.claims import INFO, LINE, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import argument
from exportlint.registry import rule

TRAINING = Claim(non_strict=always(INFO), strict=always(INFO))
EVALUATED_LATER = Claim(non_strict=always(WARNING), strict=always(WARNING))

INSTEAD = "call `model.eval()` before export"


@rule("EXP806", "training-mode-export", ExportCall, Evaluated)
def training_mode_export(fact: ExportCall | Evaluated, context: Context) -> Iterator[Report]:
    """`torch.export.export(Net(), …)` of a model with dropout or batch norm."""
    if fact.guarded:
        return
    if isinstance(fact, Evaluated):
        severity = context.severity(EVALUATED_LATER)
        if severity is not None:
            message = f"the program stays in training mode: `.eval()` in {LINE} comes after export"
            yield Report(severity, message, INSTEAD, fact.export, _fix)
    elif fact.training and fact.varies and not fact.api.endswith("_training"):
        severity = context.severity(TRAINING)
        if severity is not None:
            message = (
                "the model is exported in training mode: in the program, its dropout or batch norm stays in that mode"
            )
            yield Report(severity, message, INSTEAD, fix=_fix)


def _fix(code: Code) -> Fix:
    """Not safe: the model stays in evaluation mode, and the program is another one."""
    call = code.node(ast.Call)
    model = argument(call, 0, "mod")
    if isinstance(model, ast.Call):
        made = code.make("{model}.eval()", model=model)
        return code.fix("Call `.eval()` first", code.replace(model, made), safe=False)
    if not isinstance(model, (ast.Name, ast.Attribute)):
        raise DeclinedError("the model is not written in the call")
    statement = code.tree.statement(call)
    block = code.tree.block(statement)
    earlier = (n for s in block[: block.index(statement)] for n in ast.walk(s) if isinstance(n, ast.Call))
    if any(ast.dump(n.func) == ast.dump(call.func) and _is_same(argument(n, 0, "mod"), model) for n in earlier):
        raise DeclinedError("an earlier export needs training mode")
    insertion = code.statements.insert_before(statement, [code.statement("{model}.eval()", model=model)])
    return code.fix("Call `.eval()` first", insertion, safe=False)


def _is_same(one: ast.expr | None, other: ast.expr) -> bool:
    return one is not None and ast.dump(one) == ast.dump(other)
