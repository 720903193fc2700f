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
    """One more argument behind the others, on a line of its own if the last one is.

    Raises:
        DeclinedError: the brackets of the call are those of its only argument, a generator.
    """
    source = code.source
    end = source.range(call)[1] - 1
    given = _arguments(call)
    if not given:
        return Draft(end, end, text)
    start, place = source.outer(given[-1])
    if place > end:
        raise DeclinedError("the only argument is a generator without brackets")
    row = source.lines.position(start).row
    indent = source.between(source.lines.line_start(row), start)
    if indent.strip():
        return Draft(place, place, f", {text}")
    comma = source.following(place)
    if comma is not None and comma.text == ",":
        row_end = source.lines.line_end(source.lines.position(comma.start).row)
        if row_end < end:
            return Draft(row_end, row_end, f"\n{indent}{text},")
    return Draft(place, place, f",\n{indent}{text}")


def without_argument(code: Code, call: ast.Call, argument: ast.expr | ast.keyword) -> Draft:
    """One argument less, with the lines and the comma that are its alone."""
    source, lines = code.source, code.source.lines
    start, end = source.outer(argument)
    before, behind = source.previous(start), source.following(end)
    assert before is not None
    assert behind is not None
    if behind.text == ",":
        first, last = lines.position(start).row, lines.position(behind.end).row
        following = source.following(behind.end)
        is_last = following is None or following.start > lines.line_end(last)
        is_alone = not source.between(behind.end, lines.line_end(last)).strip()  # no comment stands behind it
        if is_last and is_alone and before.end < lines.line_start(first):
            return Draft(lines.line_start(first), lines.line_start(last + 1), "")
    if before.text == ",":
        return Draft(before.start, end, "")
    if behind.text != ",":
        return Draft(start, end, "")
    given = _arguments(call)
    return Draft(start, source.outer(given[1])[0] if len(given) > 1 else behind.end, "")


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
