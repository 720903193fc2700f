"""Arguments of calls: one more, one less, and what stands behind the names that are passed."""

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


def with_argument(code: Code, call: ast.Call, text: str) -> Draft:
    """One more argument behind the others, on a line of its own if the last one is."""
    end = code.statements.range(call)[1] - 1
    given = _arguments(call)
    if not given:
        return Draft(end, end, text)
    source = code.source.text
    start, stop = code.statements.range(given[-1])
    line = source[code.source.lines.line_start(given[-1].lineno) : start]
    place = _behind(source, stop, end)
    if line.strip():
        return Draft(place, place, f", {text}")
    row_end = code.source.lines.line_end(code.source.lines.position(place).row)
    if source[place:row_end].lstrip().startswith(","):
        return Draft(row_end, row_end, f"\n{line}{text},")
    return Draft(place, place, f",\n{line}{text}")


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


def without_argument(code: Code, call: ast.Call, argument: ast.expr | ast.keyword) -> Draft:
    """One argument less, and the comma in front of it, or behind it if it is the first.

    Raises:
        DeclinedError: parentheses stand around it.
    """
    source = code.source.text
    given = _arguments(call)
    index = given.index(argument)
    start, end = code.statements.range(argument)
    if source[end:].lstrip()[:1] != "," and _behind(source, end, code.statements.range(call)[1] - 1) != end:
        raise DeclinedError("the argument stands in parentheses")
    if index:
        return Draft(source.rindex(",", 0, start), end, "")
    following = code.statements.range(given[1])[0] if len(given) > 1 else end
    if "(" in source[end:following]:
        raise DeclinedError("the argument behind it stands in parentheses")
    return Draft(start, following, "")


def _arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """All arguments, in the order in which they stand in the source."""
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(given, key=lambda node: (node.lineno, node.col_offset))


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
