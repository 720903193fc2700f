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
from exportlint.fixes.proofs.liveness import require_unread


def said_only_fix(code: Code, _: Fact) -> Fix:
    """Ask first whether torch exports, in the condition of an `if` that only says something.

    Raises:
        DeclinedError: the branch does more, or there is another way.
    """
    branch = saying(code, code.tree.statement(code.expression))
    if branch is None:
        raise InapplicableError("the branch does more than print or log")
    return skipped(code, branch)


def saying(code: Code, node: ast.AST) -> ast.If | None:
    """A node, if it is an `if` that only says something."""
    if isinstance(node, ast.If) and not node.orelse and all(is_report(code, s) for s in node.body):
        return node
    return None


def skipped(code: Code, branch: ast.If) -> Fix:
    """A fix that skips a branch during export. Raises DeclinedError if it assigns what other code reads."""
    require_unread(code, branch, branch)
    exporting = is_exporting(code, branch, code.version)
    condition = code.make("not {exporting} and {said}", exporting=exporting, said=branch.test)
    safe = computes_only(code, [branch.test, *branch.body])
    return code.fix("Skip it during export", code.replace(branch.test, condition), safe=safe)
