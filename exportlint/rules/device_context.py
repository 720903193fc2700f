"""EXP508 device-context: `with torch.device(…)` in forward."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import DeviceContext
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(ERROR))


@rule("EXP508", "device-context", DeviceContext)
def device_context(_: DeviceContext, context: Context) -> Iterator[Report]:
    """`with torch.device("cpu"):`, `with x.device:`."""
    severity = context.severity(CLAIM)
    if severity is not None:
        message = "a device as a context manager: strict mode does not support it"
        yield Report(severity, message, "pass `device=` where tensors are created")
