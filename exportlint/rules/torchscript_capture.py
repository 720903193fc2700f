"""EXP808 torchscript-capture: a model is captured with TorchScript, which torch.export replaces."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import External
from exportlint.analysis.facts.exports import Scripting
from exportlint.analysis.facts.targets import FunctionTarget
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import DISPLAY_ONLY, Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import argument
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP808", "torchscript-capture", Scripting)
def torchscript_capture(fact: Scripting, context: Context) -> Iterator[Report]:
    """`torch.jit.trace(model, x)`; not of functions, which a model that is exported may well call."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded or isinstance(fact.target, FunctionTarget | External):
        return
    message = f"`{fact.api}` creates TorchScript, which is deprecated"
    instead = "use `torch.export.export`, and `torch._inductor.aoti_compile_and_package` to run without Python"
    if fact.api in {"torch.jit.freeze", "torch.jit.optimize_for_inference"}:
        instead = "export the model in evaluation mode, and compile the program"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _fix(code: Code, fact: Scripting) -> Fix:
    """A proposal only: a program is not called, saved and loaded as TorchScript is."""
    call = code.node(ast.Call)
    model, example = argument(call, 0, "func"), argument(call, 1, "example_inputs")
    if fact.api != "torch.jit.trace" or model is None or example is None or isinstance(model, ast.Starred):
        raise DeclinedError("there are no example inputs to export with")
    inputs = example if isinstance(example, ast.Tuple) else code.make("({example},)", example=example)
    export = code.name("torch.export.export", call)
    exported = code.make("{export}({model}, {inputs})", export=export, model=model, inputs=inputs)
    return code.fix("Export the model", code.replace(call, exported), safe=DISPLAY_ONLY)
