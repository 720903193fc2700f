"""EXP509 training-mode: whether the module is in training mode decides what is exported."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import ModeRead
from exportlint.claims import INFO, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))
MAX_NAMES = 4


@rule("EXP509", "training-mode", ModeRead)
def training_mode(fact: ModeRead, context: Context) -> Iterator[Report]:
    """`if self.training:`, `F.dropout(x, training=self.training)`, `nn.Dropout(0.5)(x)`."""
    severity = context.severity(CLAIM)
    if severity is None:
        return
    message = f"fixed at export: {_listed(fact.names)}; `.train()` and `.eval()` have no effect on the program"
    yield Report(severity, message, "call `model.eval()` before export, or export one program per mode")


def _listed(names: tuple[str, ...]) -> str:
    """`self.training`, the mode of `Dropout`."""
    modules = [name for name in names if name != "training"]
    shown = ", ".join(f"`{name}`" for name in modules[:MAX_NAMES])
    more = f" and {len(modules) - MAX_NAMES} more" if len(modules) > MAX_NAMES else ""
    own = ["`self.training`"] * (len(modules) < len(names))
    return ", ".join([*own, *[f"the mode of {shown}{more}"] * bool(modules)])
