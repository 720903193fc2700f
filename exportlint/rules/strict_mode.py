"""EXP804 strict-mode: the call traces in strict mode, the project is linted for non-strict."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import TRUE, BoundMethod, Value
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.facts.targets import ModelTarget
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import with_argument, without_argument
from exportlint.registry import rule

ASKED = Claim(non_strict=always(INFO), strict=always(None))
NOT_STRICT: TorchVersion = (2, 7)
"""The first torch that is not strict by default."""
BY_DEFAULT = Claim(non_strict={(2, 4): INFO, NOT_STRICT: None}, strict=always(None))

LIBRARIES = ("transformers.", "ultralytics.", "diffusers.")
"""Models of which many are exported in non-strict mode only: for caches and outputs that are classes of their own."""


@rule("EXP804", "strict-mode", ExportCall)
def strict_mode(fact: ExportCall, context: Context) -> Iterator[Report]:
    """`torch.export.export(model, args, strict=True)`."""
    if fact.guarded or (fact.strict is not None and fact.strict != TRUE):
        return
    severity = context.severity(ASKED if fact.strict is not None else BY_DEFAULT)
    if severity is None:
        return
    if fact.strict is not None:
        message = "`strict=True` traces the model with Dynamo, which rejects Python code that the default mode accepts"
        instead = 'drop it, or lint with `mode = "strict"`'
        yield Report(severity, message, instead, fact.place("strict"), lambda code: _not_strict(code, context))
    elif _name(fact.target).startswith(LIBRARIES):
        message = "up to torch 2.6 the default is `strict=True`, and many models of this library do not export with it"
        yield Report(severity, message, "pass `strict=False`", fix=_said)


def _not_strict(code: Code, context: Context) -> Fix:
    """Safe it is not: what strict mode traces may be another program."""
    keyword = code.tree.parents[code.expression]
    call = code.tree.parents[keyword]
    if not isinstance(keyword, ast.keyword) or not isinstance(call, ast.Call):
        raise DeclinedError("it is not passed by name")
    if context.version < NOT_STRICT:
        return code.fix("Pass `strict=False`", code.replace(keyword.value, code.make("False")), safe=False)
    return code.fix("Leave out `strict`", without_argument(code, call, keyword), safe=False)


def _said(code: Code) -> Fix:
    return code.fix("Pass `strict=False`", with_argument(code, code.node(ast.Call), False, "strict"), safe=False)


def _name(target: Value) -> str:
    while isinstance(target, BoundMethod):
        target = target.receiver
    return target.name if isinstance(target, ModelTarget) else ""
