"""EXP808 torchscript-capture: a model is captured with TorchScript, which torch.export replaces."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.exports import Scripting
from exportlint.analysis.values import External, Function
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP808", "torchscript-capture", Scripting)
def torchscript_capture(fact: Scripting, context: Context) -> Iterator[Report]:
    """`torch.jit.trace(model, x)`; not of functions, which a model that is exported may well call."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded or isinstance(fact.target, Function | External):
        return
    message = f"`{fact.api}` makes TorchScript, which torch deprecates"
    instead = "use `torch.export.export`, and `torch._inductor.aoti_compile_and_package` to run without Python"
    if fact.api in {"torch.jit.freeze", "torch.jit.optimize_for_inference"}:
        instead = "export the model in evaluation mode, and compile the program"
    yield Report(severity, message, instead)
