"""EXP305 module-move: a module is moved or cast while it is traced."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import ModuleChange
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(None))
CAST = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP305", "module-move", ModuleChange)
def module_move(fact: ModuleChange, context: Context) -> Iterator[Report]:
    """`self.linear.to(x.device)(x)`, `self.head = self.head.float()`."""
    severity = context.severity(CAST if fact.casts else CLAIM)
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`.{fact.api}()` moves or casts a module while torch.export traces it",
        "move the module before export, or cast its input instead",
    )
