"""Modules of torch whose own `forward` reads the values of a tensor: which of them, and when."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import FALSE, NONE, Const, Origin, Tensor, TorchModule
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import HostRead

COUNTS = frozenset({"torch.nn.BatchNorm1d", "torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d", "torch.nn.SyncBatchNorm"})
"""Modules that average over all batches without a `momentum`: they read how many there were."""

MASKED = {
    "torch.nn.TransformerEncoder": ((1, "mask", 3, "is_causal"),),
    "torch.nn.TransformerDecoder": ((2, "tgt_mask", 6, "tgt_is_causal"),),
    "torch.nn.Transformer": ((2, "src_mask", 8, "src_is_causal"), (3, "tgt_mask", 9, "tgt_is_causal")),
}
"""Modules that compare a mask with the causal one unless they are told whether it is: the places of both arguments."""


def note_module_reads(frame: Frame, module: TorchModule, arguments: Arguments, node: ast.AST) -> None:
    """Record that a module of torch reads the values of a buffer or of an argument."""
    if frame.engine.constructing:
        return
    if module.name in COUNTS and frame.engine.options.training:
        options = dict(module.arguments)
        if options.get("momentum") == NONE and options.get("track_running_stats") != FALSE:
            counter = Tensor(Origin.BUFFER, "int", name="num_batches_tracked")
            frame.emit(HostRead, node, None, api=module.name, operand=counter)
    if module.name == "torch.nn.GaussianNLLLoss":
        variance = data_of(arguments.get(2, "var") or NONE)
        if isinstance(variance, Tensor):
            frame.emit(HostRead, node, variance, api=module.name, operand=variance)
    for place, name, told_at, told in MASKED.get(module.name, ()):
        mask = data_of(arguments.get(place, name) or NONE)
        is_told = isinstance(value := arguments.get(told_at, told), Const) and value != NONE
        if isinstance(mask, Tensor) and mask.shape.rank in {None, 2} and (value in {None, NONE} or not is_told):
            frame.emit(HostRead, node, mask, api=module.name, operand=mask)
            return
