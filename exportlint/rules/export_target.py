"""EXP801 export-target: what torch.export is called on is no `nn.Module`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.script_values import Program, Scripted
from exportlint.analysis.domain.values import BoundMethod, External, Partial, Tuple, Value
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.facts.plain import ClassName
from exportlint.analysis.facts.targets import FunctionTarget
from exportlint.analysis.torch import table
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.wrapper_modules import wrapped
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))

MODULE = "wrap the call in the `forward` of an `nn.Module`, and export an instance"


@rule("EXP801", "export-target", ExportCall)
def export_target(fact: ExportCall, context: Context) -> Iterator[Report]:
    """`torch.export.export(self._predict, …)`, `torch.export.export(lambda x: …, …)`."""
    found = _described(fact.target)
    severity = context.severity(CLAIM)
    if found is None or severity is None or fact.guarded:
        return
    what, instead = found
    message = f"`{fact.api}` takes an `nn.Module`, not {what}"
    yield Report(severity, message, instead, fact.place("mod"), lambda code: _fix(code, fact.target))


def _fix(code: Code, target: Value) -> Fix:
    node = code.expression
    if isinstance(node, ast.Attribute) and node.attr == "forward" and _is_forward(target):
        return code.fix("Export the module itself", code.replace(node, node.value), safe=True)
    if isinstance(target, Program):
        module = code.make("{program}.module()", program=node)
        return code.fix("Export its module", code.replace(node, module), safe=True)
    if not isinstance(target, FunctionTarget):
        raise DeclinedError("the code for the wrapper is not written in the call")
    return wrapped(code, node, target)


def _described(target: Value) -> tuple[str, str] | None:
    """What a target is that export refuses, and what to do; None if it is a module or not known."""
    if isinstance(target, FunctionTarget):
        if not target.name:
            return "a lambda", MODULE
        if target.bound:
            return f"the method `{target.name}`", "export the module itself" if _is_forward(target) else MODULE
        return f"the function `{target.name}`", MODULE
    if _is_forward(target):
        return "the method `forward`", "export the module itself"
    if isinstance(target, ClassName):
        return f"the class `{target.name.rpartition('.')[2]}`", "export an instance of it"
    if isinstance(target, External):
        api = table.lookup(target.name)
        if api is not None and api.kind == "module":
            return f"the class `{target.name}`", "export an instance of it"
        return (f"the function `{target.name}`", MODULE) if api is not None and api.kind == "function" else None
    if isinstance(target, Scripted):
        return "a TorchScript module", "export the module that was scripted or traced"
    if isinstance(target, Program):
        return "an `ExportedProgram`", "use the program, or export its `.module()`"
    if isinstance(target, Partial):
        return "a `functools.partial`", MODULE
    if isinstance(target, Tuple):
        return f"a {'list' if target.mutable else 'tuple'}", "export each module separately"
    return None


def _is_forward(target: Value) -> bool:
    """Whether it is the `forward` of a module."""
    if isinstance(target, FunctionTarget):
        return target.name == "forward" and target.receiver == "model"
    return isinstance(target, BoundMethod) and target.name == "forward"
