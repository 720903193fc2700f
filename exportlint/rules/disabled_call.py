"""EXP616 disabled-call: code that the compiler is told to leave alone."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Call
from exportlint.analysis.facts.tracing import WrappedCall
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(None), strict=always(ERROR))
SHALLOW = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP616", "disabled-call", WrappedCall, Call)
def disabled_call(fact: WrappedCall | Call, context: Context) -> Iterator[Report]:
    """A call of a function under `@torch.compiler.disable`, `torch._dynamo.graph_break()`."""
    if fact.guarded:
        return
    if isinstance(fact, Call):
        severity = context.severity(CLAIM)
        if severity is not None and fact.name == "torch._dynamo.graph_break":
            yield Report(severity, "a graph break: strict mode needs one graph", "remove it")
    elif fact.wrapper.endswith(".disable"):
        severity = context.severity(CLAIM if fact.recursive else SHALLOW)
        if severity is not None:
            yield Report(
                severity,
                f"`{fact.name}` is under `torch.compiler.disable`: torch.export must trace everything",
                "remove the decorator, or make the function an operator with `torch.library.custom_op`",
            )
