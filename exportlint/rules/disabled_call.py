"""EXP616 disabled-call: code that the compiler is told to leave alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import Call
from exportlint.analysis.facts.tracing import WrappedCall
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.wrappers import unwrap
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(None), strict=always(ERROR))
SHALLOW = Claim(non_strict={(2, 4): None, (2, 13): ERROR}, strict=always(ERROR))


@rule("EXP616", "disabled-call", WrappedCall, Call)
def disabled_call(fact: WrappedCall | Call, context: Context) -> Iterator[Report]:
    """A call of a function under `@torch.compiler.disable`, `torch._dynamo.graph_break()`."""
    if fact.guarded:
        return
    if isinstance(fact, Call):
        severity = context.severity(CLAIM)
        if severity is not None and fact.name == "torch._dynamo.graph_break":
            yield Report(severity, "a graph break: strict mode needs one graph", "remove it", fix=_without_break)
    elif fact.wrapper.endswith(".disable"):
        severity = context.severity(CLAIM if fact.recursive else SHALLOW)
        if severity is not None:
            yield Report(
                severity,
                f"`{fact.name}` is decorated with `torch.compiler.disable`, but torch.export must trace everything",
                "remove the decorator, or turn the function into an operator with `torch.library.custom_op`",
                fix=lambda code: _fix(code, fact),
            )


def _without_break(code: Code) -> Fix:
    call = code.node(ast.Call)
    statement = code.tree.statement(call)
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        raise DeclinedError("the call is part of a larger expression")
    return code.fix("Remove the graph break", code.statements.replace([statement], []), safe=True)


def _fix(code: Code, fact: WrappedCall) -> Fix:
    """`torch.compile` then compiles what it was told to leave alone, so it is not safe."""
    return code.fix(f"Leave out `{fact.wrapper}`", unwrap(code, code.node(ast.Call), fact.wrapper), safe=False)
