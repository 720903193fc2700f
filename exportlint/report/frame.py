"""The lines of code around a finding, with the place marked, as wide as a terminal shows them."""

from __future__ import annotations

from exportlint.findings import Span
from exportlint.report.context import Context, printable
from exportlint.report.wrapping import char_width
from exportlint.source import LineIndex

_CONTEXT_ROWS = 2
_MAX_SPAN_ROWS = 8
_MAX_WIDTH = 160
_MIN_WIDTH = 20
_TAB = 4


def frame(lines: LineIndex, span: Span, style: str, context: Context) -> tuple[list[str], int]:
    """The rows to print, and the width of the row numbers before them. Without rows if the place is not in the text."""
    if not 1 <= span.start.row <= span.end.row <= len(lines):
        return [], 1
    first = max(1, span.start.row - _CONTEXT_ROWS)
    last = min(len(lines), span.end.row + _CONTEXT_ROWS)
    while first < span.start.row and not lines.line(first).strip():
        first += 1
    while last > span.end.row and not lines.line(last).strip():
        last -= 1
    width = len(str(last))
    several = span.start.row != span.end.row
    skipped = _skipped(span)
    limit = code_width(context, width + 6 if several else width + 4)
    offset = offset_of(lines.line(span.start.row), span.start.column, limit)
    starts_line = several and not lines.line(span.start.row)[: span.start.column - 1].strip()
    result = []
    for row in range(first, last + 1):
        inside = span.start.row <= row <= span.end.row
        if row in skipped:
            if row == skipped.start:
                result.append(f" {'.' * 3:<{width}} {context.style(style, '|')}")
            continue
        side = ""
        if several:
            opened = (
                "/" if starts_line and row == span.start.row else "|" if span.start.row < row <= span.end.row else " "
            )
            side = context.style(style, opened) + " "
        number = context.style("frame", f" {row:>{width}} |")
        shown = clip(expand(lines.line(row)), offset, limit)
        result.append(f"{number} {side}{shown}".rstrip())
        if inside and (mark := _mark(lines, span, row, offset, starts_line, limit)):
            bar = context.style("frame", f" {'':>{width}} |")
            result.append(f"{bar} {context.style(style, mark)}")
    return result, width


def _skipped(span: Span) -> range:
    """The rows in the middle of a long span, which are not shown."""
    if span.end.row - span.start.row < _MAX_SPAN_ROWS:
        return range(0)
    return range(span.start.row + _MAX_SPAN_ROWS // 2, span.end.row - 1)


def _mark(lines: LineIndex, span: Span, row: int, offset: int, starts_line: bool, limit: int) -> str:
    line = lines.line(row)
    if span.start.row == span.end.row:
        start, end = (_width(line[: column - 1]) for column in (span.start.column, span.end.column))
        return " " * (start - offset) + "^" * max(1, min(end - start, limit - (start - offset)))
    if row == span.start.row and not starts_line:
        return " " + "_" * (_width(line[: span.start.column - 1]) - offset + 1) + "^"
    if row == span.end.row:
        return "|" + "_" * max(1, min(_width(line[: span.end.column - 1]) - offset, limit)) + "^"
    return ""


def code_width(context: Context, gutter: int) -> int:
    """How many columns the code has beside a gutter."""
    return _MAX_WIDTH if context.width is None else max(_MIN_WIDTH, context.width - gutter - 1)


def offset_of(line: str, column: int, limit: int) -> int:
    """How much of the left of all rows to leave out, so that the place shows although its line is very long."""
    if _width(line) <= limit:
        return 0
    return max(0, _width(line[: column - 1]) - limit // 4)


def clip(text: str, offset: int, limit: int) -> str:
    """The part of a line that is printed, without so much of its left."""
    if not offset and text.isascii() and len(text) <= limit:
        return text
    taken: list[str] = []
    at = 0
    for char in text:
        if offset <= at < offset + limit:
            taken.append(char)
        at += char_width(char)
    return "".join(taken) + ("…" if at > offset + limit else "")


def expand(line: str) -> str:
    """The line as it is printed: tabs as spaces, control characters as visible ones."""
    if "\t" not in line:
        return printable(line)
    parts: list[str] = []
    at = 0
    for char in line:
        shown = " " * (_TAB - at % _TAB) if char == "\t" else printable(char)
        parts.append(shown)
        at += len(shown) if char == "\t" else _width(shown)
    return "".join(parts)


def _width(text: str) -> int:
    """How many columns of a terminal the start of a line takes."""
    if text.isascii() and "\t" not in text:
        return len(text)
    return sum(map(char_width, expand(text)))
