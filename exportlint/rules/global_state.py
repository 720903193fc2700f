"""EXP313 global-state: a variable of a file in which one call leaves something for the next."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.state import StateChange
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

USED = Claim(non_strict=always(WARNING), strict=always(WARNING))
UNUSED = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP313", "global-state", StateChange)
def global_state(fact: StateChange, context: Context) -> Iterator[Report]:
    """`global calls; calls += 1`, `SEEN.append(x)`."""
    severity = context.severity(USED if fact.carried else UNUSED)
    if fact.holder != "global" or severity is None or fact.guarded:
        return
    if fact.carried:
        message = (
            f"the global `{fact.name}` is changed for the next call, but each run of the program finds it as it was"
        )
        instead = "keep it in a tensor that `register_buffer` registers"
    else:
        message = f"the global `{fact.name}` is changed during export only: the program never does it"
        instead = "return what callers need, or leave it out under `if not torch.compiler.is_compiling():`"
    yield Report(severity, message, instead)
