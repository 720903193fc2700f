"""Arguments of calls for rewrites of these: one more, one less, and what stands behind the names that are passed.

Not a rewrite itself: `deprecated-export-api`, `export-arguments` and others say when theirs are safe.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.fixes.edit import arguments
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.tree import Scope, in_order
from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Given
    from exportlint.fixes.edit.template import Expression


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """What a call passes at a place or by a name."""
    if place < len(call.args):
        return call.args[place]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def with_argument(code: Code, call: ast.Call, value: Given, name: str | None = None) -> Draft:
    """One more argument behind the others, on a line of its own if the last one is."""
    return code.replace(call, arguments.with_argument(code.concrete(call), code.make("{value}", value=value), name))


def without_argument(code: Code, call: ast.Call, left_out: ast.expr | ast.keyword) -> Draft:
    """One argument less, with the lines and the comma that are its alone."""
    return code.replace(call, call_without(code, call, left_out))


def call_without(code: Code, call: ast.Call, left_out: ast.expr | ast.keyword) -> Expression:
    """A call without one of its arguments."""
    given: list[ast.expr | ast.keyword] = in_order([*call.args, *call.keywords])
    return arguments.without_argument(code.concrete(call), given.index(left_out))


def written(code: Code, node: ast.expr) -> ast.expr:
    """The expression itself, or the one that the variable holds which it is: the only one that it is given.

    Raises:
        DeclinedError: the variable is assigned more than once, or otherwise.
    """
    if not isinstance(node, ast.Name):
        return node
    for scope in (*code.tree.ancestors(node), code.tree.root):
        if not isinstance(scope, (Scope, ast.Module)):
            continue
        if isinstance(scope, Scope) and node.id in {a.arg for a in ast.walk(scope.args) if isinstance(a, ast.arg)}:
            break
        stores = [n for n in code.tree.contents(scope).named(node.id) if not _is_read(n)]
        if not stores:
            continue
        statement = code.tree.statement(stores[0])
        if len(stores) == 1 and isinstance(statement, ast.Assign) and statement.targets == stores:
            return statement.value
        break
    raise DeclinedError(f"the value of `{node.id}` is not known")


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)
