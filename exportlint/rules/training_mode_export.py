"""EXP806 training-mode-export: a model is exported before `.eval()`."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.exports import Evaluated, ExportCall
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

TRAINING = Claim(non_strict=always(INFO), strict=always(INFO))
EVALUATED_LATER = Claim(non_strict=always(WARNING), strict=always(WARNING))

INSTEAD = "call `model.eval()` before export"


@rule("EXP806", "training-mode-export", ExportCall, Evaluated)
def training_mode_export(fact: ExportCall | Evaluated, context: Context) -> Iterator[Report]:
    """`torch.export.export(Net(), …)` of a model with dropout or batch norm."""
    if fact.guarded:
        return
    if isinstance(fact, Evaluated):
        severity = context.severity(EVALUATED_LATER)
        if severity is not None:
            message = f"the program keeps the training mode that `.eval()` in line {fact.site.row} ends for the model"
            yield Report(severity, message, INSTEAD, fact.export)
    elif fact.training and fact.varies and not fact.api.endswith("_training"):
        severity = context.severity(TRAINING)
        if severity is not None:
            message = "the model is exported in training mode, and its dropout or batch norm stays so in the program"
            yield Report(severity, message, INSTEAD)
