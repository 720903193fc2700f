"""EXP307 buffer-reassignment: a call binds a buffer to another tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.state import BufferWrite
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, Timeline, always
from exportlint.registry import rule

DROPPED: Timeline = {(2, 4): ERROR, (2, 13): WARNING}
CLAIM = Claim(non_strict=always(None), strict=DROPPED)
CHANGED = Claim(non_strict=always(WARNING), strict=DROPPED)
REMOVED = Claim(non_strict=always(ERROR), strict=DROPPED)


@rule("EXP307", "buffer-reassignment", BufferWrite)
def buffer_reassignment(fact: BufferWrite, context: Context) -> Iterator[Report]:
    """`self.mean = 0.9 * self.mean + 0.1 * x.mean(0)`."""
    if fact.before in {"nothing", "none"}:
        return
    claim = (
        REMOVED if fact.changes == "presence" else CHANGED if fact.changes != "nothing" or not fact.at_root else CLAIM
    )
    severity = context.severity(claim)
    if severity is None or (fact.guarded and severity is not ERROR):
        return
    if fact.changes == "presence":
        message = f"the buffer `{fact.name}` is set to None, which no program can do"
    elif fact.changes != "nothing":
        message = f"the buffer `{fact.name}` is bound to a tensor of another {fact.changes}: the program cannot keep it"
    else:
        message = f"the buffer `{fact.name}` is bound to another tensor: the program drops the new value"
    yield Report(severity, message, f"keep its size and dtype and change it in place: `{fact.name}.copy_(…)`")
