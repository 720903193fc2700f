"""Edits of the arguments of calls."""

from __future__ import annotations

import ast

from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.statements import Draft


def with_argument(code: Code, call: ast.Call, argument: str) -> Draft:
    """One more argument behind the others, on a line of its own if the last has one.

    Raises:
        DeclinedError: a comment stands where it would go.
    """
    end = code.statements.range(call)[1] - 1
    given = _arguments(call)
    if not given:
        return Draft(end, end, argument)
    last = given[-1]
    start = code.statements.range(last)[1]
    rest = code.source.text[start:end]
    if "#" in rest:
        raise DeclinedError("a comment stands behind the last argument")
    place = start + len(rest.rstrip())
    if not rest.rstrip().endswith(","):
        return Draft(place, place, f", {argument}")
    if "\n" not in rest.replace("\r", "\n"):
        return Draft(place, place, f" {argument}")
    line = code.source.lines.line(last.lineno)
    return Draft(place, place, f"\n{line[: len(line) - len(line.lstrip())]}{argument},")


def without_argument(code: Code, call: ast.Call, argument: ast.expr | ast.keyword) -> Draft:
    """One argument less, which is not the first, and the comma in front of it."""
    given = _arguments(call)
    before = given[given.index(argument) - 1]
    return Draft(code.statements.range(before)[1], code.statements.range(argument)[1], "")


def _arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """All arguments, in the order in which they stand in the source."""
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(given, key=lambda node: (node.lineno, node.col_offset))
