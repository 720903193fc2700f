"""The branch that a finding is about, and the ways to rewrite it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.selection import where_fix

Branch = ast.IfExp | ast.If

STRATEGIES: tuple[Callable[[Code, Branch], Fix], ...] = (where_fix,)
"""In order: the first that does not decline makes the fix."""


def branch_fix(code: Code) -> Fix:
    """Rewrites the branch in whose condition the finding is.

    Raises:
        DeclinedError: it is in none, or no strategy can rewrite it.
    """
    branch = branch_of(code)
    reasons: list[str] = []
    for strategy in STRATEGIES:
        try:
            return strategy(code, branch)
        except DeclinedError as reason:
            reasons.append(str(reason))
    raise DeclinedError("; ".join(reasons))


def branch_of(code: Code) -> Branch:
    """The branch in whose condition the finding is. Raises DeclinedError."""
    node: ast.AST = code.node(ast.expr, ast.If)
    if isinstance(node, (ast.IfExp, ast.If)):
        return node
    for around in code.tree.ancestors(node):
        if isinstance(around, (ast.IfExp, ast.If)) and around.test is node:
            return around
        if not isinstance(around, ast.expr) or isinstance(around, (ast.IfExp, ast.Lambda)):
            break
        node = around
    raise DeclinedError("the finding is in no condition")
