"""What a model says while it runs, kept for eager and out of what torch.export traces.

`print(x)` goes under `if not torch.compiler.is_exporting():`.

Safe: what it evaluates only computes. Otherwise an effect of it is missing in the program.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import External
from exportlint.analysis.library_functions import find
from exportlint.findings import TorchVersion
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import call
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.liveness import require_unread
from exportlint.fixes.proofs.purity import computes_only

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

__all__ = ["asks_exporting", "computes_only", "eager_only", "is_exporting", "is_report", "reports"]

MAX_TOGETHER = 32
"""Statements that one fix keeps for eager: each of them has that fix, so a longer one would cost the square."""
IS_EXPORTING: TorchVersion = (2, 7)
"""The first torch with `torch.compiler.is_exporting`."""


def eager_only(code: Code, statements: Sequence[ast.stmt], version: TorchVersion) -> Draft:
    """Statements that follow each other in one block, under a condition that is false during export.

    Raises:
        DeclinedError: they assign a variable on the way that other code reads.
    """
    for statement in statements:
        require_unread(code, statement, statement)
    return code.statements.wrap(
        statements, "if not {exporting}:\n    {*body}", exporting=is_exporting(code, statements[0], version)
    )


def is_exporting(code: Code, node: ast.AST, version: TorchVersion) -> Expression:
    """A condition that is true during export."""
    return call(code.name(asks_exporting(version), node))


def asks_exporting(version: TorchVersion) -> str:
    """The name of the function that is true during export. Before 2.7, torch.compile makes it true as well."""
    return f"torch.compiler.{'is_exporting' if version >= IS_EXPORTING else 'is_compiling'}"


def reports(code: Code, node: ast.AST) -> list[ast.stmt]:
    """The statement of which a node is part, if it only says something, and those next to it that do.

    A long row of them is several groups, which all its statements agree on.

    Raises:
        DeclinedError: it does something else too.
    """
    statement = code.tree.statement(node)
    if not is_report(code, statement):
        raise DeclinedError("the statement does more than print or log")
    block = code.tree.block(statement)
    first = last = code.tree.index(statement)
    while first % MAX_TOGETHER and is_report(code, block[first - 1]):
        first -= 1
    while (last + 1) % MAX_TOGETHER and last + 1 < len(block) and is_report(code, block[last + 1]):
        last += 1
    return block[first : last + 1]


def is_report(code: Code, statement: ast.stmt) -> bool:
    """Whether a statement only says something."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    callee = code.value(statement.value.func)
    return isinstance(callee, External) and find(callee.name).effect == "report"
