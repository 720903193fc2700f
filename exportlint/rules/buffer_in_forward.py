"""EXP308 buffer-in-forward: a buffer that is not there before the first call."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.state import BufferWrite
from exportlint.claims import ERROR, WARNING, Claim, Context, Report
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.state.hoist_to_init import buffer_made_once
from exportlint.registry import rule

CLAIM = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict={(2, 4): ERROR, (2, 13): WARNING})
GIVEN = Claim(non_strict={(2, 4): ERROR}, strict={(2, 4): ERROR, (2, 13): WARNING})


@rule("EXP308", "buffer-in-forward", BufferWrite)
def buffer_in_forward(fact: BufferWrite, context: Context) -> Iterator[Report]:
    """`self.register_buffer("mask", …)` in `forward`; `self.mask = …` where `mask` is a buffer that is None."""
    severity = context.severity(GIVEN if fact.as_given else CLAIM, guarded=fact.guarded)
    if fact.before not in {"nothing", "none"} or fact.restored or severity is None:
        return
    yield Report(
        severity,
        f"the buffer `{fact.name}` is created in forward: "
        + (
            "export cannot make a buffer of an input itself"
            if severity is ERROR and fact.as_given
            else "the exported program does not have it, and may overwrite an input with it"
        ),
        "register the buffer in `__init__` with its final sizes",
        fix=_fix,
    )


def _fix(code: Code) -> Fix:
    """The buffer is there before the first call, and so in state dicts."""
    return code.fix("Register it in `__init__`", *buffer_made_once(code, code.expression), safe=False)
