r"""Rows and columns of a text, by the only line ends that Python and LSP know: `\n`, `\r\n` and `\r`."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from exportlint.findings import Position, Span

if TYPE_CHECKING:
    import ast

_LINE_END = re.compile(r"\r\n?|\n")


class LineIndex:
    r"""Converts between offsets into `text` (code points) and positions.

    A text has one line more than line ends, so `"a\n"` has two. An offset inside `\r\n` counts as the place before it.
    """

    __slots__ = ("__weakref__", "_ascii", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        if "\r" in text:
            self._starts = array("L", [0, *(end.end() for end in _LINE_END.finditer(text))])
        else:
            # A quarter of the time of the regular expression.
            self._starts = array("L", accumulate([0, *[len(line) + 1 for line in text.split("\n")]]))
            self._starts.pop()

    @staticmethod
    def of(text: str) -> LineIndex:
        """The index of a text, which all who hold the same text share."""
        known = _shared.get(text)
        if known is None:
            known = _shared[text] = LineIndex(text)
        return known

    def edited(self, start: int, end: int, content: str) -> LineIndex:
        """The index of the text with `content` between two offsets: only lines that the edit touches are searched."""
        text = self.text[:start] + content + self.text[end:]
        if "\r" in self.text or "\r" in content:
            return LineIndex.of(text)
        made = LineIndex.__new__(LineIndex)
        made.text, made._ascii = text, text.isascii()
        first, last = bisect_right(self._starts, start), bisect_right(self._starts, end)
        moved = len(content) - (end - start)
        after = self._starts[last:]
        made._starts = self._starts[:first]
        made._starts.extend(start + line_end.end() for line_end in _LINE_END.finditer(content))
        made._starts.extend(array("L", [place + moved for place in after]) if moved else after)
        _shared[text] = made
        return made

    def __len__(self) -> int:
        """Number of lines, at least 1."""
        return len(self._starts)

    @property
    def is_ascii(self) -> bool:
        """Whether each character of the text is one unit in every encoding."""
        return self._ascii

    def line(self, row: int) -> str:
        """The line without its line end. Raises IndexError for a row outside of the text."""
        if not 1 <= row <= len(self._starts):
            raise IndexError(f"row {row} of a text of {len(self._starts)} lines")
        return self.text[self._starts[row - 1] : self.line_end(row)]

    def line_start(self, row: int) -> int:
        """Offset of the first character of the line; rows outside of the text are clamped."""
        return self._starts[min(max(row, 1), len(self._starts)) - 1]

    def line_end(self, row: int) -> int:
        """Offset just after the last character of the line, before its line end; rows are clamped."""
        if row >= len(self._starts):
            return len(self.text)
        start = self.line_start(row)
        end = self._starts[max(row, 1)]
        if self.text.endswith("\r\n", start, end):
            return end - 2
        return end - 1

    def position(self, offset: int) -> Position:
        """The position of an offset, clamped into the text."""
        offset = min(max(offset, 0), len(self.text))
        row = bisect_right(self._starts, offset)
        start = self._starts[row - 1]
        return Position(row, min(offset, self.line_end(row)) - start + 1)

    def offset(self, position: Position) -> int:
        """The offset of a position: a column past the end of its line is the line's end, rows are clamped."""
        if position.row < 1:
            return 0
        if position.row > len(self._starts):
            return len(self.text)
        start = self._starts[position.row - 1]
        return min(start + max(position.column, 1) - 1, self.line_end(position.row))

    def clamped(self, position: Position) -> Position:
        """The position itself if it is in the text, else the closest one that is."""
        row, column = position.row, position.column
        if 1 <= row < len(self._starts) and 1 <= column < self._starts[row] - self._starts[row - 1] - 1:
            return position  # before the line end, however long that is
        return self.position(self.offset(position))

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets."""
        return Span(self.position(start), self.position(end))

    def slice(self, span: Span) -> str:
        """The text that a span covers."""
        return self.text[self.offset(span.start) : self.offset(span.end)]

    def from_ast(self, lineno: int, utf8_col_offset: int) -> Position:
        """The position of `ast` coordinates: row from 1, column from 0 in UTF-8 bytes."""
        if self._ascii:
            return Position(lineno, utf8_col_offset + 1)
        line = self.line(lineno)
        if line.isascii():
            return Position(lineno, utf8_col_offset + 1)
        before = line.encode("utf-8", "surrogatepass")[:utf8_col_offset]
        return Position(lineno, len(before.decode("utf-8", "ignore")) + 1)

    def span_of(self, node: ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword | ast.alias) -> Span:
        """The span of a node of the tree that `parse` gave."""
        start = self.from_ast(node.lineno, node.col_offset)
        if node.end_lineno is None or node.end_col_offset is None:
            return Span(start, start)
        return Span(start, self.from_ast(node.end_lineno, node.end_col_offset))


_shared: WeakValueDictionary[str, LineIndex] = WeakValueDictionary()
