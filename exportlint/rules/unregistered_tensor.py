"""EXP311 unregistered-tensor: a tensor that is not a buffer is changed in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.state import PlainTensorWrite
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, before
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.writes import written
from exportlint.fixes.state.buffers import registration
from exportlint.fixes.state.constructor import Constructor, class_that_assigns
from exportlint.fixes.state.places import class_attribute, keep, keep_global
from exportlint.registry import rule

CLAIM = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict=before((2, 6)))
GLOBAL = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict=before((2, 13)))


@rule("EXP311", "unregistered-tensor", PlainTensorWrite)
def unregistered_tensor(fact: PlainTensorWrite, context: Context) -> Iterator[Report]:
    """`self.steps.add_(1)` where `self.steps` is a plain tensor."""
    severity = context.severity(CLAIM if "." in fact.name else GLOBAL)
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`{fact.name}` is not a buffer: export itself changes the tensor, and the program starts from the changed "
        "value",
        "register the tensor with `register_buffer` in `__init__`",
        fix=_fix,
    )


def _fix(code: Code) -> Fix:
    """The buffer moves with the module; the plain tensor stayed where it was made."""
    base = written(code.node(ast.expr, ast.AugAssign))
    if isinstance(base, ast.Name):
        drafts = keep_global(code, Constructor(code, base), base.id)
        return code.fix("Keep it in a buffer", *drafts, safe=False)
    if not isinstance(base, ast.Attribute):
        raise DeclinedError("it is not an attribute")
    constructor = class_that_assigns(code, base, base.attr)
    if not constructor.assigns(base.attr):
        drafts = keep(code, constructor, class_attribute(constructor, base.attr))
        return code.fix("Keep it in a buffer", *drafts, safe=False)
    first = constructor.assignment(base.attr)
    return code.fix("Register a buffer", registration(code, first), safe=False)
