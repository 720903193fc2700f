"""Where places of a text are in a later version of it, also of lines that were changed."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace

from exportlint.findings import Caller, Finding, Position, Span, Step
from exportlint.server.line_differences import Difference, differences
from exportlint.source.reparsing import common_prefix, common_suffix
from exportlint.workspace import ClassSite

_LIKE = 4
"""A line that has less than this part of its characters left is gone, as far as findings in it go."""
_LINE_END = re.compile(r"\r\n|\r|\n")


class Moves:
    """From the places of one text to those of another. Deleted lines are nowhere."""

    def __init__(self, before: str, after: str) -> None:
        start, end = _same_lines(before, after)
        self._first = _count_line_ends(before[:start])
        """So many rows at the start are the same; only those between them and the last ones are compared."""
        self._before, self._after = (_rows(text, start, end) for text in (before, after))
        first = self._first
        self._differences: list[Difference] = [
            (a + first, b + first, c + first, d + first) for a, b, c, d in differences(self._before, self._after)
        ]
        self._starts = [start for start, *_ in self._differences]

    def keeps(self, span: Span) -> bool:
        """Whether a span is surely where it was, in lines that are as they were."""
        at = bisect_right(self._starts, span.end.row - 1) - 1
        if at < 0:
            return True
        _, end, _, new_end = self._differences[at]
        return span.start.row > end == new_end

    def position(self, place: Position, *, is_end: bool = False) -> Position | None:
        """Where a place is now; in a line that was changed, as far as its ends are the same.

        What is inserted at a place is before it, or behind it if it `is_end`, of a span.
        """
        row = place.row - 1
        at = bisect_right(self._starts, row) - 1
        if at < 0:
            return place
        start, end, new, new_end = self._differences[at]
        if row >= end:
            return Position(row - end + new_end + 1, place.column)
        first = self._first
        line = self._before[row - first]
        if end - start == new_end - new:
            new_row = new + row - start
        else:  # the line that is most like it, the first of several
            new_row = max(
                range(new, new_end), key=lambda other: _likeness(line, self._after[other - first]), default=-1
            )
        if new_row < 0 or _likeness(line, self._after[new_row - first]) * _LIKE < len(line.strip()):
            return None
        return Position(new_row + 1, _column(place.column, line, self._after[new_row - first], is_end=is_end))

    def span(self, span: Span) -> Span | None:
        """Where a span is now."""
        start, end = self.position(span.start), self.position(span.end, is_end=True)
        return None if start is None or end is None else Span(start, max(start, end))

    def step(self, step: Step) -> Step:
        """A step of a trail where it is now, or else where it was."""
        return replace(step, span=self.span(step.span) or step.span)

    def caller(self, caller: Caller) -> Caller | None:
        """What reaches a finding, where it is now."""
        definition, span = self.span(caller.definition), self.span(caller.span)
        if definition is None or span is None:
            return None
        return replace(caller, definition=definition, span=span)

    def site(self, site: ClassSite) -> ClassSite | None:
        """A class where it is now."""
        header, whole = self.span(site.header), self.span(site.whole)
        return None if header is None or whole is None else replace(site, header=header, whole=whole)


def moved(finding: Finding, moves: dict[str, Moves]) -> Finding | None:
    """A finding where it is now, if files have moved; its fix is of the text before. None if its code is gone."""
    here = moves.get(finding.filename)
    named = {finding.filename, *(s.filename for s in finding.trail), *(c.filename for c in finding.callers)}
    if not named & moves.keys():
        return finding
    if _is_kept(finding, moves):
        return replace(finding, fix=None, fix_pending=False) if here else finding
    span = here.span(finding.span) if here else finding.span
    if span is None:
        return None
    callers = (moves[c.filename].caller(c) if c.filename in moves else c for c in finding.callers)
    return replace(
        finding,
        span=span,
        trail=tuple(moves[step.filename].step(step) if step.filename in moves else step for step in finding.trail),
        callers=tuple(caller for caller in callers if caller is not None),
        fix=None if here else finding.fix,
        fix_pending=finding.fix_pending and not here,
    )


def _is_kept(finding: Finding, moves: dict[str, Moves]) -> bool:
    """Whether all places that a finding speaks of are surely where they were."""
    places = [(finding.filename, finding.span), *((step.filename, step.span) for step in finding.trail)]
    places += (place for c in finding.callers for place in ((c.filename, c.definition), (c.filename, c.span)))
    return all(moves[name].keeps(span) for name, span in places if name in moves)


def _same_lines(before: str, after: str) -> tuple[int, int]:
    """How many characters are in the lines that two texts begin with alike, and in those that they end with alike."""
    start = before.rfind("\n", 0, common_prefix(before, after)) + 1
    end = common_suffix(before, after, min(len(before), len(after)) - start)
    at = before.find("\n", len(before) - end) if end else -1
    return start, 0 if at < 0 else len(before) - at - 1


def _rows(text: str, start: int, end: int) -> list[str]:
    """The lines of a text between those at its start and those at its end."""
    rows = _LINE_END.split(text[start : len(text) - end])
    return rows[:-1] if end else rows


def _count_line_ends(text: str) -> int:
    return len(_LINE_END.findall(text)) if "\r" in text else text.count("\n")


def _column(column: int, before: str, after: str, *, is_end: bool) -> int:
    """Where a column of a line is in what became of the line."""
    offset = column - 1
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    is_behind = offset >= len(before) - end
    if offset < start or (offset == start and (is_end or not is_behind)):
        return column
    if is_behind:
        return offset + len(after) - len(before) + 1
    return min(offset, len(after) - end) + 1


def _likeness(one: str, other: str) -> int:
    """How many characters two lines have in common at their ends, but for their indentation."""
    one, other = one.strip(), other.strip()
    start = _common(one, other)
    return start + _common(one[start:][::-1], other[start:][::-1])


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (char, there) in pairs if char != there), min(len(one), len(other)))
