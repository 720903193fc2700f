"""ACME001 device-sync: `acme_ops.synchronize()` in code that torch.export traces."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.plugin import Call, Context, Report, Severity, rule


@rule(Call)
def check(fact: Call, context: Context) -> Iterator[Report]:
    """`acme_ops.synchronize()`."""
    if fact.name != "acme_ops.synchronize" or fact.guarded:
        return
    severity = Severity.ERROR if context.mode == "strict" else Severity.WARNING
    what = "TorchDynamo cannot trace it" if severity is Severity.ERROR else "the exported program does not wait"
    yield Report(severity, f"`acme_ops.synchronize()` runs only during export: {what}", "wait outside of the model")
