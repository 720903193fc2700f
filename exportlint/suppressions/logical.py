"""The logical lines of a file: which physical rows one statement, or the header of a compound one, takes."""

from __future__ import annotations

import bisect
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\r|\n")
_NOT_CODE = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
)


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """Rows from 1, both included; the column of its first token, from 1."""

    first: int
    last: int
    column: int
    is_decorator: bool


class LogicalLines:
    """The logical lines of a text, in order; if it has a syntax error, perhaps only those before the error."""

    def __init__(self, text: str) -> None:
        self._rows = _LINE_END.split(text)
        self._lines = list(_logical_lines(self._rows))
        self._firsts = [line.first for line in self._lines]
        self._outer = _outer(self._lines)

    def at(self, row: int) -> LogicalLine | None:
        """The last logical line that has a part of a row."""
        after = bisect.bisect_right(self._firsts, row)
        return self._lines[after - 1] if after and self._lines[after - 1].last >= row else None

    def header_last_row(self, first: int) -> int:
        """The last row of the logical line that begins in row `first`; for a decorator, of what it decorates."""
        at = bisect.bisect_left(self._firsts, first)
        while at + 1 < len(self._lines) and self._lines[at].is_decorator:
            at += 1
        return self._lines[at].last if at < len(self._lines) else first

    def block_end(self, row: int, column: int) -> int:
        """The last row of the block of which something at this place is a part."""
        at = bisect.bisect_right(self._firsts, row)
        while at < len(self._lines) and self._lines[at].column >= column:
            at = self._outer[at]
        return self._lines[at].first - 1 if at < len(self._lines) else len(self._rows)


def _outer(lines: list[LogicalLine]) -> list[int]:
    """For each line the index of the next one that is indented less, or how many lines there are."""
    found = [len(lines)] * len(lines)
    inner: list[int] = []
    for at, line in enumerate(lines):
        while inner and lines[inner[-1]].column > line.column:
            found[inner.pop()] = at
        inner.append(at)
    return found


def _logical_lines(rows: list[str]) -> Iterator[LogicalLine]:
    start: tokenize.TokenInfo | None = None
    for token in _tokens(rows):
        if token.type == tokenize.NEWLINE and start is not None:
            first, column = start.start
            yield LogicalLine(first, token.start[0], column + 1, start.string == "@")
            start = None
        elif start is None and token.type not in _NOT_CODE:
            start = token


def _tokens(rows: list[str]) -> Iterator[tokenize.TokenInfo]:
    lines = (row + "\n" for row in rows)
    try:
        yield from tokenize.generate_tokens(lambda: next(lines, ""))
    except (tokenize.TokenError, SyntaxError):
        return
