"""EXP802 export-arguments: the example inputs are not those that forward takes, or not in a tuple and a dict."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.script_values import Example
from exportlint.analysis.domain.values import Const, Dict, Sequence, Tuple, Value
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.scripts.signatures import MismatchError, bind
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.fixes.export_calls.example_arguments import in_tuple, with_empty_args
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
        instead = "pass `()` if all inputs are in `kwargs`"
        yield Report(severity, f"`{fact.api}` needs `args`", instead, fix=with_empty_args)
    elif (kind := _kind(args)) not in {"", "tuple"}:
        instead = "write `(x,)`, with a comma" if kind == "tensor" else "pass a tuple"
        instead = "pass `()` as `args`, and the dict as `kwargs`" if kind == "dict" else instead
        message = f"`args` must be a tuple of example inputs, not a {kind}"
        yield Report(severity, message, instead, fact.place("args"), lambda code: in_tuple(code, kind))
    elif kwargs is not None and (kind := _kind(kwargs)) not in {"", "dict"}:
        message = f"`kwargs` must be a dict of example inputs by name, not a {kind}"
        yield Report(severity, message, 'pass `{"name": tensor}`', fact.place("kwargs"))
    else:
        try:
            bind(fact.inputs)
        except MismatchError as error:
            yield Report(severity, f"{error}", "pass the arguments of forward", fact.place(error.argument))


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
