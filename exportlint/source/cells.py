"""The code cells of a notebook as one text, and the way back from its rows to theirs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate

from exportlint.findings import Edit, Position, Span
from exportlint.source.file import Place
from exportlint.source.lines import LineIndex

_LINE_END = re.compile(r"\r\n?|\n")
_LAST_LINE_END = re.compile(r"(?:\r\n?|\n)\Z")


class Cells:
    """Code cells one after the other, each with a line end behind it, so that no two of them share a line.

    A cell without any text takes no line. `numbers` are what people call the cells, by default from 1 on; `texts` are
    what the cells hold, and `text` is all of them.
    """

    def __init__(self, texts: Sequence[str], numbers: Sequence[int] | None = None) -> None:
        self.texts = tuple(texts)
        self.numbers = tuple(range(1, len(texts) + 1) if numbers is None else numbers)
        ends = (_LINE_END.search(text) for text in texts)
        newline = "\r\n" if next((end.group() for end in ends if end), "\n") == "\r\n" else "\n"
        parts = [_closed(text, newline) for text in texts]
        self.text = "".join(parts)
        self._starts = list(accumulate(map(len, parts), initial=0))
        self._rows = list(accumulate((len(lines) if lines.text else 0 for lines in self._lines), initial=1))
        self._filled = [i for i, text in enumerate(texts) if text]

    def lines(self, index: int) -> LineIndex:
        """The rows and columns of the cell with an index, from 0."""
        return self._lines[index]

    @cached_property
    def _lines(self) -> list[LineIndex]:
        return list(map(LineIndex, self.texts))

    @cached_property
    def _all(self) -> LineIndex:
        return LineIndex(self.text)

    def start(self, index: int) -> int:
        """The offset at which a cell starts in `text`; that of the number of cells is the end."""
        return self._starts[index]

    def rows(self, index: int) -> range:
        """The rows of `text` that a cell takes."""
        return range(self._rows[index], self._rows[index + 1])

    def index(self, row: int) -> int | None:
        """The cell that a row of `text` is in, the last one for a row behind all; None if there is no text at all."""
        if not self._filled:
            return None
        at = bisect_right(self._filled, row, key=lambda index: self._rows[index])
        return self._filled[max(at - 1, 0)]

    def locate(self, position: Position) -> tuple[int, Position] | None:
        """The cell of a place of `text`, by its index, and the place in the cell; None if there is no text at all."""
        index = self.index(position.row)
        if index is None:
            return None
        if position.row not in self.rows(index):
            return index, self.lines(index).position(len(self.texts[index]))
        return index, Position(position.row - self._rows[index] + 1, position.column)

    def position(self, index: int, position: Position) -> Position:
        """The place of `text` that a place in a cell is; rows outside of the cell are clamped."""
        row = min(max(position.row, 1), max(len(self.rows(index)), 1))
        return Position(self._rows[index] + row - 1, position.column if row == position.row else 1)

    def span(self, span: Span) -> tuple[int, Span] | None:
        """The cell that a span of `text` starts in, and the part of the span that lies in it."""
        start, end = self.locate(span.start), self.locate(span.end)
        if start is None or end is None:
            return None
        index, first = start
        last = end[1] if end[0] == index else self.lines(index).position(len(self.texts[index]))
        return index, Span(first, max(first, last))

    def edit(self, edit: Edit) -> tuple[int, Edit] | None:
        """The cell that an edit of `text` starts in, and the edit of the cell; None if it is not of one cell."""
        place = (self._all.offset(edit.span.start), self._all.offset(edit.span.end), edit.content)
        found = self.place(place)
        if found is None:
            return None
        index, (start, end, content) = found
        return index, Edit(self.lines(index).span(start, end), content, self.numbers[index])

    def place(self, place: Place) -> tuple[int, Place] | None:
        """The cell of an edit by its offsets, and what it is there; None if it is not of one cell.

        Where it takes away or replaces the line end behind the cell, the line before becomes the last one.
        """
        start, end, content = place
        index = bisect_right(self._filled, start, key=lambda index: self._starts[index]) - 1
        if index < 0 or end > self._starts[self._filled[index] + 1]:
            return None
        index = self._filled[index]
        text, first = self.texts[index], self._starts[index]
        start, end = start - first, end - first
        if end <= len(text):
            return index, (start, end, content)
        if start > len(text):
            return None
        ending = _LAST_LINE_END.search(content)
        if ending is not None:
            content = content[: ending.start()]
        elif not content and (ending := _LAST_LINE_END.search(text, 0, start)):
            start = ending.start()
        return index, (start, len(text), content)

    def edits(self, places: Iterable[Place]) -> dict[int, list[Place]] | None:
        """The edits of each cell, by its index; None if one of them is not of one cell."""
        found: dict[int, list[Place]] = {}
        for place in places:
            one = self.place(place)
            if one is None:
                return None
            found.setdefault(one[0], []).append(one[1])
        return found


def _closed(text: str, newline: str) -> str:
    if not text:
        return ""
    return text + ("\r\n" if text.endswith("\r") else newline)
