"""Arguments of calls: more of them, fewer, and what stands behind the names that are passed."""

from __future__ import annotations

import ast

from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.statements import Draft
from exportlint.fixes.tree import Scope


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """What a call passes at a place or by a name."""
    if place < len(call.args):
        return call.args[place]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def add_argument(code: Code, call: ast.Call, text: str) -> Draft:
    """One more argument behind the others, on a line of its own if the last one is.

    Raises:
        DeclinedError: the call has no arguments.
    """
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not given:
        raise DeclinedError("the call has no arguments")
    last = max((code.statements.range(node) for node in given), key=lambda place: place[1])
    source = code.source.text
    end = _behind(source, last[1], code.statements.range(call)[1] - 1)
    first = max(code.statements.range(node)[0] for node in (*call.args, *call.keywords))
    line = source[source.rfind("\n", 0, first) + 1 : first]
    return Draft(end, end, f",\n{line}{text}" if not line.strip() else f", {text}")


def _behind(source: str, start: int, stop: int) -> int:
    """Where an argument ends whose expression ends at `start`: behind the parentheses around it."""
    end = place = start
    while place < stop:
        if source[place] == "#":
            place = source.find("\n", place)
        elif source[place] == ")":
            end = place + 1
        place += 1
    return end


def drop_keyword(code: Code, call: ast.Call, keyword: ast.keyword) -> Draft:
    """Leaves out an argument that is passed by name.

    Raises:
        DeclinedError: it is the only one, or stands in parentheses.
    """
    source = code.source.text
    start, end = code.statements.range(keyword)
    before = [n for n in (*call.args, *call.keywords) if code.statements.range(n)[1] < start]
    behind = [n for n in (*call.args, *call.keywords) if code.statements.range(n)[0] > end]
    if before:
        start = source.rindex(",", 0, start)
    elif behind:
        following = min(code.statements.range(n)[0] for n in behind)
        if "(" in source[end:following]:
            raise DeclinedError("the argument behind it stands in parentheses")
        return Draft(start, following, "")
    if source[end:].lstrip()[:1] not in {",", ")"} or not before:
        raise DeclinedError("the argument cannot be left out by itself")
    return Draft(start, end, "")


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
        stores = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == node.id and not _is_read(n)]
        if not stores:
            continue
        statement = code.tree.statement(stores[0])
        if len(stores) == 1 and isinstance(statement, ast.Assign) and statement.targets == stores:
            return statement.value
        break
    raise DeclinedError(f"what `{node.id}` holds is not to be seen")


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)
