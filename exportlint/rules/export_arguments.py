"""EXP802 export-arguments: the example inputs are not those that forward takes, or not in a tuple and a dict."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.script_values import Example
from exportlint.analysis.domain.values import Const, Dict, Sequence, Tuple, Value
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.scripts.signatures import MismatchError, bind
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.arguments import with_argument_behind
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import as_tuple
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import argument
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP802", "export-arguments", ExportCall)
def export_arguments(fact: ExportCall, context: Context) -> Iterator[Report]:
    """`torch.export.export(model, x)`, `torch.export.export(model, [x])`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    args, kwargs = fact.inputs.args, fact.inputs.kwargs
    if args is None:
        instead = "pass `()` where all inputs are in `kwargs`"
        yield Report(severity, f"`{fact.api}` needs `args`", instead, fix=_without_args)
    elif (kind := _kind(args)) not in {"", "tuple"}:
        instead = "write `(x,)`, with a comma" if kind == "tensor" else "pass a tuple"
        instead = "pass `()` as `args`, and the dict as `kwargs`" if kind == "dict" else instead
        message = f"`args` is a tuple of example inputs, and gets a {kind}"
        yield Report(severity, message, instead, fact.place("args"), lambda code: _in_tuple(code, kind))
    elif kwargs is not None and (kind := _kind(kwargs)) not in {"", "dict"}:
        message = f"`kwargs` is a dict of example inputs by name, and gets a {kind}"
        yield Report(severity, message, 'pass `{"name": tensor}`', fact.place("kwargs"))
    else:
        try:
            bind(fact.inputs)
        except MismatchError as error:
            yield Report(severity, f"{error}", "pass what forward takes", fact.place(error.argument))


def _kind(value: Value) -> str:
    """What an argument is, "" if that is not known."""
    if isinstance(value, Example):
        return "tensor"
    if isinstance(value, Tuple):
        return "list" if value.mutable else "tuple"
    if isinstance(value, Dict):
        return "dict"
    if isinstance(value, Sequence):
        return value.type
    if isinstance(value, Const):
        return type(value.value).__name__
    return ""


def _without_args(code: Code) -> Fix:
    call = code.node(ast.Call)
    if len(call.args) != 1 or all(keyword.arg != "kwargs" for keyword in call.keywords):
        raise DeclinedError("the inputs are not to be seen")
    return code.fix(
        "Pass `()`", code.replace(call, with_argument_behind(code.concrete(call), 0, code.make("()"))), safe=True
    )


def _in_tuple(code: Code, kind: str) -> Fix:
    """Safe, as torch.export refuses what stands there."""
    node = code.expression
    if kind == "tensor":
        return code.fix("Pass a tuple", code.replace(node, code.make("({given},)", given=node)), safe=True)
    if kind == "dict":
        return code.fix("Pass the dict as `kwargs`", _as_kwargs(code, node), safe=True)
    if kind != "list":
        raise DeclinedError("what the inputs are is not to be seen")
    if isinstance(node, ast.List):
        return code.fix("Pass a tuple", code.replace(node, as_tuple(code.concrete(node))), safe=True)
    return code.fix("Pass a tuple", code.replace(node, code.make("tuple({given})", given=node)), safe=True)


def _as_kwargs(code: Code, node: ast.expr) -> Draft:
    parent = code.tree.parents[node]
    call = code.tree.parents[parent] if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or argument(call, 2, "kwargs") is not None:
        raise DeclinedError("there are `kwargs` already")
    index = [*call.args, *call.keywords].index(parent if isinstance(parent, ast.keyword) else node)
    emptied = code.concrete(call, {node: code.make("()")})
    return code.replace(call, with_argument_behind(emptied, index, code.concrete(node), "kwargs"))
