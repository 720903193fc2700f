"""Parses what an edit changed of a file, and keeps the statements around it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from exportlint.source.parsing import tree_of


@dataclass(frozen=True, slots=True)
class Reparse:
    """The tree of the edited text. `kept` are the top-level statements whose nodes are those of the tree before."""

    tree: ast.Module
    kept: frozenset[ast.stmt]


def reparse(text: str, before: str, tree: ast.Module) -> Reparse | None:
    """What parsing `text` gives, where `tree` is what parsing `before` gave; None if all of it has to be parsed.

    Only top-level statements that the edit touches are parsed, and those below where these cannot be. The nodes of the
    others go over into the new tree, moved to their new rows, so `tree` cannot be used any more afterwards; where the
    answer is None it is as it was.

    Raises:
        SyntaxError: what parsing `text` raises; `tree` is as it was.
    """
    if _has_odd_lines(text) or _has_odd_lines(before) or tree.type_ignores:
        return None
    first = common_prefix(before, text)
    last = common_suffix(before, text, min(len(before), len(text)) - first)
    rows_before, rows_after = before.count("\n", 0, first), before.count("\n", len(before) - last) if last else 0
    count = before.count("\n")
    body = tree.body
    head = _head(body, rows_before)
    tail = _tail(body, count - rows_after + 2)
    start = _end_row(body[head - 1]) if head else 0
    moved = text.count("\n") - count
    stop = _first_row(body[tail]) - 1 + moved if tail < len(body) else text.count("\n") + 1
    begin = _offset(text, start, first, rows_before)
    end = _offset(text, stop, len(text) - last, count + moved - rows_after) if tail < len(body) else len(text)
    if begin > end or text[:begin].rstrip("\r\n").endswith("\\") or "\0" in text:
        return None
    try:
        middle = tree_of(text[begin:end]).body
    except SyntaxError:
        return _reparse_rest(text, body, head, begin, start)
    except (ValueError, RecursionError, MemoryError):
        return None
    for statement in middle:
        _move(statement, start)
    after = body[tail:]
    if moved:
        for statement in after:
            _move(statement, moved)
    return Reparse(ast.Module([*body[:head], *middle, *after], []), frozenset((*body[:head], *after)))


def _reparse_rest(text: str, body: Sequence[ast.stmt], head: int, at: int, row: int) -> Reparse | None:
    """What parsing gives where only the first statements, up to a row, are as they were, and the last may go on."""
    head -= 1
    while head > 0 and _end_row(body[head - 1]) == _first_row(body[head]):
        head -= 1
    if head <= 0:
        return None
    start = _end_row(body[head - 1])
    try:
        # Empty rows cost next to nothing, and all places are those of the text, also such that messages name.
        rest = tree_of("\n" * start + text[_offset(text, start, at, row) :]).body
    except (ValueError, RecursionError, MemoryError):
        return None
    return Reparse(ast.Module([*body[:head], *rest], []), frozenset(body[:head]))


def _has_odd_lines(text: str) -> bool:
    """Whether Python ends a line of it anywhere but at line feeds."""
    return "\r" in text and text.count("\r") != text.count("\r\n")


def common_prefix(one: str, other: str) -> int:
    """How many characters two texts begin with alike, by comparing slices: as fast as memory can be compared."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(one: str, other: str, limit: int) -> int:
    """How many characters two texts end with alike, at most `limit`."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _head(body: Sequence[ast.stmt], row: int) -> int:
    """How many statements end in the first `row` rows, and share none with what follows."""
    low, high = 0, len(body)
    while low < high:
        middle = (low + high) // 2
        if _end_row(body[middle]) <= row:
            low = middle + 1
        else:
            high = middle
    while low and low < len(body) and _end_row(body[low - 1]) == _first_row(body[low]):
        low -= 1
    return low


def _tail(body: Sequence[ast.stmt], row: int) -> int:
    """The first statement that begins in a row or after it, and shares no row with what stands before."""
    low, high = 0, len(body)
    while low < high:
        middle = (low + high) // 2
        if _first_row(body[middle]) >= row:
            high = middle
        else:
            low = middle + 1
    while low < len(body) and (body[low].col_offset or (low and _end_row(body[low - 1]) == _first_row(body[low]))):
        low += 1
    return low


def _first_row(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _end_row(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _offset(text: str, row: int, at: int, at_row: int) -> int:
    """Where the row after the first `row` begins, counted from a place with `at_row` rows before its own."""
    for _ in range(at_row - row + 1):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return 0
    if row <= at_row:
        return at + 1
    for _ in range(row - at_row):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return at


def _move(statement: ast.stmt, rows: int) -> None:
    if not rows:
        return
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        held = node.__dict__
        if "lineno" in held:
            held["lineno"] += rows
            held["end_lineno"] += rows
        for name in node._fields:
            value = held.get(name)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [item for item in value if isinstance(item, ast.AST)]
