"""EXP501 hard-coded-device: the code names a device."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Creation, DeviceMove
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.fixes.state.devices import follow_device
from exportlint.registry import rule

MOVE = Claim(non_strict=always(ERROR), strict=always(ERROR))
CUDA = Claim(non_strict={(2, 4): ERROR, (2, 15): INFO}, strict={(2, 4): ERROR, (2, 15): INFO})
"""Builds with CUDA trace it without a GPU from torch 2.15 on, and builds without CUDA still refuse it."""
WITH_INDEX = Claim(non_strict=always(INFO), strict=always(INFO))
CREATION = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP501", "hard-coded-device", DeviceMove, Creation)
def hard_coded_device(fact: DeviceMove | Creation, context: Context) -> Iterator[Report]:
    """`x.cuda()`, `x.to("cuda")`, `torch.zeros(3, device="cuda")`."""
    if fact.device is None or fact.device == "cpu" or fact.guarded or fact.device.startswith("meta"):
        return
    if isinstance(fact, DeviceMove):
        severity = context.severity(WITH_INDEX if ":" in fact.device else CUDA if fact.device == "cuda" else MOVE)
        message = f"`.{fact.api}()` moves a traced tensor to {fact.device!r}: export needs that device, and bakes it in"
        instead = "leave the tensor where it is: the caller moves the model and its inputs"
    else:
        severity = context.severity(CREATION)
        message = f"`{fact.api}` creates its tensor on {fact.device!r}, whatever device the inputs are on"
        instead = "pass `device=x.device`, or use `x.new_zeros` and the like"
    if severity is not None:
        yield Report(severity, message, instead, fix=lambda code: follow_device(code, fact))
