"""EXP801 export-target: what torch.export is called on is no `nn.Module`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis import table
from exportlint.analysis.exports.values import Model, Program, Scripted
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.values import BoundMethod, ClassValue, External, Function, Partial, Tuple, Value
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))

MODULE = "wrap the call in the forward of an `nn.Module`, and export an instance of that"


@rule("EXP801", "export-target", ExportCall)
def export_target(fact: ExportCall, context: Context) -> Iterator[Report]:
    """`torch.export.export(self._predict, …)`, `torch.export.export(lambda x: …, …)`."""
    found = _described(fact.target)
    severity = context.severity(CLAIM)
    if found is None or severity is None or fact.guarded:
        return
    what, instead = found
    yield Report(severity, f"`{fact.api}` takes an `nn.Module`, and gets {what}", instead, fact.place("mod"))


def _described(target: Value) -> tuple[str, str] | None:
    """What a target is that export refuses, and what to do; None if it is a module or not known."""
    if isinstance(target, Function):
        if isinstance(target.node, ast.Lambda):
            return "a lambda", MODULE
        if target.receiver is not None or target.owner is not None:
            is_forward = target.node.name == "forward" and isinstance(target.receiver, Model)
            return f"the method `{target.node.name}`", "export the module itself" if is_forward else MODULE
        return f"the function `{target.node.name}`", MODULE
    if isinstance(target, BoundMethod) and target.name == "forward":
        return "the method `forward`", "export the module itself"
    if isinstance(target, ClassValue):
        return f"the class `{target.definition.node.name}`", "export an instance of it"
    if isinstance(target, External):
        api = table.lookup(target.name)
        if api is not None and api.kind == "module":
            return f"the class `{target.name}`", "export an instance of it"
        return (f"the function `{target.name}`", MODULE) if api is not None and api.kind == "function" else None
    if isinstance(target, Scripted):
        return "what TorchScript made", "export the module that was scripted or traced"
    if isinstance(target, Program):
        return "an `ExportedProgram`", "use the program, or export its `.module()`"
    if isinstance(target, Partial):
        return "a `functools.partial`", MODULE
    if isinstance(target, Tuple):
        return f"a {'list' if target.mutable else 'tuple'}", "export each module in it by itself"
    return None
