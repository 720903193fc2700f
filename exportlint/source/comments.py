"""Comments, and the logical line that each belongs to, of any text: also of code that is half typed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exportlint.source.lines import LineIndex
from exportlint.source.strings import StringScanner, rest_of_line

_SPECIAL = re.compile(r"[#\"'()\[\]{}\\\r\n]")
_BLANK = " \t\f"


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, from its `#` to the end of its line.

    `own_line`: nothing but blanks stands before it. `blanks` is how many stand right before it. Its logical line is
    the one it is in or at the end of; for a comment between logical lines the next one, or the comment's own row where
    none follows. So an own-line comment stands above its logical line if `logical_start_row > row`, and inside of it
    otherwise.
    """

    row: int
    column: int
    text: str
    own_line: bool
    blanks: int
    start_offset: int
    logical_start_row: int
    logical_end_row: int

    @property
    def end_offset(self) -> int:
        """Offset after the last character of the comment."""
        return self.start_offset + len(self.text)


def comments(text: str, lines: LineIndex | None = None) -> list[Comment]:
    """All comments of a text, in order. Never raises.

    A logical line ends at the first line end outside of brackets and strings that no backslash precedes: for a
    compound statement it is the header. `lines` saves the making of a second index of the same text.
    """
    if "#" not in text:
        return []
    lines = LineIndex(text) if lines is None else lines
    return _Scan(text, lines).run()


class _Scan:
    def __init__(self, text: str, lines: LineIndex) -> None:
        self._text = text
        self._lines = lines
        self._strings = StringScanner(text)
        self._done: list[Comment] = []
        self._waiting: list[tuple[int, int]] = []
        self._code: int | None = None  # an offset in the first row of the current logical line

    def run(self) -> list[Comment]:
        text = self._text
        at = line_start = depth = 0
        after_comment = False
        while found := _SPECIAL.search(text, at):
            floor, at = at, found.start()
            char = text[at]
            if char in "\r\n":
                if not after_comment:
                    self._see_code(line_start, at)
                if self._code is not None and depth == 0:
                    self._end_logical_line(at)
                at = line_start = at + 2 if text.startswith("\r\n", at) else at + 1
                after_comment = False
                continue
            if char == "#":
                self._see_code(line_start, at)
                end = rest_of_line(text, at)
                self._waiting.append((at, end))
                after_comment = True
                at = end
                continue
            self._see_code(at, at + 1)
            if char in "\"'":
                at = self._strings.end(at, floor)
                self._waiting += self._strings.comments
                self._strings.comments.clear()
            elif char == "\\":
                at += 3 if text.startswith("\r\n", at + 1) else 2
            else:
                depth = depth + 1 if char in "([{" else max(depth - 1, 0)
                at += 1
        if not after_comment:
            self._see_code(line_start, len(text))
        self._end_logical_line(len(text))
        return self._done

    def _see_code(self, start: int, end: int) -> None:
        """Starts a logical line if none has started and there is code between the offsets."""
        if self._code is None and self._text[start:end].strip(_BLANK):
            self._code = start

    def _end_logical_line(self, end: int) -> None:
        """Hands out the comments that waited for the logical line from `self._code` to `end`, if there is one."""
        if self._waiting:
            rows = None
            if self._code is not None:
                rows = self._lines.position(self._code).row, self._lines.position(end).row
            self._done += [self._comment(start, stop, rows) for start, stop in self._waiting]
            self._waiting.clear()
        self._code = None

    def _comment(self, start: int, end: int, rows: tuple[int, int] | None) -> Comment:
        place = self._lines.position(start)
        before = self._text[self._lines.line_start(place.row) : start]
        first, last = rows or (place.row, place.row)
        code = before.rstrip(_BLANK)
        blanks = len(before) - len(code)
        return Comment(place.row, place.column, self._text[start:end], not code, blanks, start, first, last)
