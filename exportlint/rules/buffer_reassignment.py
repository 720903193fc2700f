"""EXP307 buffer-reassignment: a call binds a buffer to another tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.state import BufferWrite
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, Timeline, always, before
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.state.buffer_dtypes import wider_buffer_fix
from exportlint.fixes.state.buffers import Kept
from exportlint.fixes.state.constructor import Constructor
from exportlint.registry import rule

DROPPED: Timeline = {(2, 4): ERROR, (2, 13): WARNING}
SAME: Timeline = {(2, 4): ERROR, (2, 13): INFO}
CLAIM = Claim(non_strict=always(None), strict=DROPPED)
CHANGED = Claim(non_strict=always(WARNING), strict=DROPPED)
REMOVED = Claim(non_strict=always(ERROR), strict=DROPPED)
RESTORED = Claim(non_strict={(2, 4): None, (2, 6): ERROR}, strict=before((2, 13)))
GIVEN = Claim(non_strict={(2, 4): None, (2, 6): ERROR}, strict=DROPPED)
UNCHANGED = Claim(non_strict={(2, 4): None, (2, 6): ERROR}, strict=SAME)
RENEWED = Claim(non_strict=always(INFO), strict=SAME)


@rule("EXP307", "buffer-reassignment", BufferWrite)
def buffer_reassignment(fact: BufferWrite, context: Context) -> Iterator[Report]:
    """`self.mean = 0.9 * self.mean + 0.1 * x.mean(0)`, `self.start = None`."""
    if fact.before in {"nothing", "none"} and not fact.restored:
        return
    severity = context.severity(_claim(fact), guarded=fact.guarded)
    if severity is None:
        return
    if fact.restored:
        message = f"the buffer `{fact.name}` is rebound for part of the call, which makes export raise"
        yield Report(severity, message, "pass the replacement as an argument, and do not rebind the buffer")
        return
    if _is_refused(fact, context):
        message = f"the buffer `{fact.name}` is bound to an input or another buffer itself, which makes export raise"
    elif fact.changes == "presence":
        message = f"the buffer `{fact.name}` is set to None, which an exported program cannot store"
    elif fact.changes != "nothing":
        message = (
            f"the buffer `{fact.name}` is rebound to a tensor of a different {fact.changes}, which the exported "
            "program cannot store"
        )
    elif fact.varies:
        message = f"the buffer `{fact.name}` is rebound to a new tensor: the exported program drops the new value"
    else:
        message = f"the buffer `{fact.name}` is rebound only while exporting; the exported program does not rebind it"
    yield Report(
        severity,
        message,
        f"keep its size and dtype, and update it in place: `{fact.name}.copy_(…)`",
        fix=lambda code: _fix(code, fact),
    )


def _fix(code: Code, fact: BufferWrite) -> Fix:
    target = code.node(ast.Attribute)
    if fact.changes == "dtype" and fact.varies:
        return wider_buffer_fix(code, target)
    if fact.changes == "shape":
        raise DeclinedError("an exported program cannot store a buffer of another size than at export")
    if fact.changes == "presence":
        raise DeclinedError("a buffer of an exported program always holds a tensor")
    if not fact.varies:
        raise DeclinedError("each call binds the buffer to the same values")
    constructor = Constructor(code, target)
    function = code.tree.function(target)
    uses = [use for use in constructor.uses(target.attr) if code.tree.function(use) is function]
    return code.fix("Copy into the buffer, if the sizes agree", *Kept(code, uses).drafts(), safe=False)


def _is_refused(fact: BufferWrite, context: Context) -> bool:
    return fact.as_given and context.mode == "non-strict"


def _claim(fact: BufferWrite) -> Claim:
    if fact.restored:
        return RESTORED
    if fact.changes == "presence" and fact.at_root:
        return REMOVED
    if fact.as_given and fact.changes == "nothing":
        return GIVEN if fact.varies else UNCHANGED
    if not fact.varies:
        return RENEWED
    return CLAIM if fact.changes == "nothing" and fact.at_root else CHANGED
