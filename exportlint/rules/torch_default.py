"""EXP507 torch-default: the default dtype and device of torch, which the program gets once."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import External
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.environment import BakedUse, Drawn
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.fixes.state.read_once import read_once
from exportlint.registry import rule

DTYPE = Claim(non_strict=always(WARNING), strict=always(WARNING))
DEVICE = Claim(non_strict=always(WARNING), strict=always(ERROR))
DEVICE_ASKED = Claim(non_strict=always(INFO), strict=always(ERROR))


@rule("EXP507", "torch-default", Drawn, BakedUse, Call)
def torch_default(fact: Drawn | BakedUse | Call, context: Context) -> Iterator[Report]:
    """`torch.zeros(4, dtype=torch.get_default_dtype())`, `torch.set_default_dtype(torch.float64)`."""
    if isinstance(fact, Call):
        severity = context.severity(DTYPE) if _sets_dtype(fact) else None
        if severity is not None and not fact.guarded:
            message = (
                f"`{fact.name}` is called only at export: the exported program creates its tensors with another dtype"
            )
            yield Report(severity, message, "pass `dtype=` where tensors are created")
        return
    is_dtype = fact.api == "torch.get_default_dtype"
    is_use = isinstance(fact, BakedUse)
    if fact.source != "default" or (is_dtype and not is_use):
        return
    severity = context.severity(DTYPE if is_dtype else DEVICE if is_use else DEVICE_ASKED)
    if severity is ERROR:
        yield Report(
            severity,
            f"`{fact.api}` in code that strict mode traces: Dynamo does not support it",
            "take `x.device`",
            fix=read_once,
        )
    elif severity is not None:
        message = f"`{fact.api}` is read once, at export: its value is baked in"
        instead = "take the dtype or device from a tensor: `x.dtype`, `x.device`"
        yield Report(severity, message, instead, fix=None if severity is INFO else read_once)


def _sets_dtype(fact: Call) -> bool:
    """Whether the default becomes another than torch's own; what restores one is not a cause."""
    dtype = fact.positional[0] if fact.positional else None
    named = isinstance(dtype, External) and dtype.name not in {"torch.float32", "torch.float"}
    return named and fact.name == "torch.set_default_dtype"
