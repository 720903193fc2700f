"""A branch on whether torch compiles or exports as the way that eager takes.

`x + 1 if torch.compiler.is_compiling() else x - 1` becomes `x - 1`, and an `if` becomes the statements of that way.

Eager computes what it did, bit by bit. Never safe: what stands on the other way may be there because torch.compile or
torch.export need it, and they run the eager way now.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    from exportlint.findings import Fix
    from exportlint.fixes.edit.code import Code

MESSAGE = "Take the eager branch during export as well"


def eager_way(code: Code) -> Fix:
    """The way that eager takes in place of the branch. Raises DeclinedError where it cannot stand alone."""
    test: ast.expr = code.node(ast.Call)
    parent = code.tree.parents[test]
    is_negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    if isinstance(parent, ast.UnaryOp) and is_negated:
        test = parent
    branch = code.tree.parents[test]
    if isinstance(branch, ast.IfExp) and branch.test is test:
        return code.fix(MESSAGE, code.replace(branch, branch.body if is_negated else branch.orelse), safe=False)
    if not isinstance(branch, ast.If) or branch.test is not test:
        raise DeclinedError("the condition is part of a larger one")
    way = branch.body if is_negated else branch.orelse
    dropped: list[ast.stmt] = [branch]
    if way and isinstance(way[-1], (ast.Return, ast.Raise)):
        dropped += code.tree.following(branch)
    edit = code.statements.unwrap(dropped, way) if way else code.statements.left_out(branch)
    return code.fix(MESSAGE, edit, safe=False)
