"""EXP302 data-assignment: `tensor.data = value`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import (
    Origin,
    Tensor,
)
from exportlint.analysis.facts import DataWrite
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

INPUT = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 6): INFO})
STORED = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 6): INFO})
PARAMETER = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 9): INFO})
LOCAL = Claim(non_strict=always(WARNING), strict=always(ERROR))
CLAIMS = {Origin.PARAMETER: PARAMETER, Origin.BUFFER: STORED, Origin.FRESH: LOCAL}


@rule("EXP302", "data-assignment", DataWrite)
def data_assignment(fact: DataWrite, context: Context) -> Iterator[Report]:
    """`x.data = y`, `self.weight.data = w`."""
    from_data = isinstance(fact.assigned, Tensor) and fact.assigned.data is not None
    severity = context.severity(CLAIMS.get(fact.target.origin, INPUT))
    if severity is None or from_data:
        return
    yield Report(
        severity,
        "assignment to `.data`: torch.export ignores it, and the exported program keeps the old values",
        "write to the tensor instead: `.detach().copy_(…)`",
        fix=_fix,
    )


def _fix(code: Code) -> Fix:
    """What `.data` is bound to may have other sizes, and shares its storage afterwards."""
    target = code.node(ast.Attribute)
    statement = code.tree.statement(target)
    if not isinstance(statement, ast.Assign) or statement.targets != [target]:
        raise DeclinedError("the statement assigns more than `.data`")
    copied = code.statement("{tensor}.detach().copy_({value})", tensor=target.value, value=statement.value)
    edit = code.replace(statement, copied)
    return code.fix("Copy into the tensor, if the sizes agree", edit, safe=False)
