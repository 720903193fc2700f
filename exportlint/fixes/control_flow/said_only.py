"""Branches on tensor data that only say something: what they say is lost in export, so they are kept for eager.

`if x.isnan().any(): print(…)` becomes `if not torch.compiler.is_exporting() and x.isnan().any(): print(…)`.

Safe: all that the branch evaluates only computes. Otherwise an effect of it is missing in the program.
"""

from __future__ import annotations

import ast

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.eager_only.reports import computes_only, is_exporting, is_report
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import InapplicableError


def said_only_fix(code: Code, _: Fact) -> Fix:
    """Ask first whether torch exports, in the condition of an `if` that only says something.

    Raises:
        DeclinedError: the branch does more, or there is another way.
    """
    statement = code.tree.statement(code.expression)
    if not isinstance(statement, ast.If) or statement.orelse or not all(is_report(code, s) for s in statement.body):
        raise InapplicableError("the branch does more than print or log")
    exporting = is_exporting(code, statement, code.version)
    condition = code.make("not {exporting} and {said}", exporting=exporting, said=statement.test)
    safe = computes_only(code, [statement.test, *statement.body])
    return code.fix("Skip it during export", code.replace(statement.test, condition), safe=safe)
