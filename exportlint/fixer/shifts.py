"""Where places of a text are after edits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from exportlint.edits import places
from exportlint.findings import Edit, Span
from exportlint.source import LineIndex


@dataclass(frozen=True, slots=True)
class Chain:
    """Shifts one after the other, none for a text that stays as it is."""

    shifts: tuple[Shift, ...] = ()

    def span(self, span: Span) -> Span | None:
        """What the code of a span covers now; None if it starts or ends in code that was replaced."""
        now: Span | None = span
        for shift in self.shifts:
            now = None if now is None else shift.span(now)
        return now

    def is_edited(self, span: Span) -> bool:
        """Whether something in or right beside a span was replaced or inserted."""
        for shift in self.shifts:
            if shift.is_edited(span):
                return True
            span = shift.reach(span)
        return False

    def reach(self, span: Span) -> Span:
        """The least that surely holds all that came of the code of a span, with what was put beside it."""
        for shift in self.shifts:
            span = shift.reach(span)
        return span


class Shift:
    """From places of a text to those of the text that edits, which do not overlap, make of it."""

    def __init__(self, edits: Iterable[Edit], before: LineIndex, after: LineIndex) -> None:
        self._before = before
        self._after = after
        self._edits = places(edits, before)
        self._starts = [start for start, _, _ in self._edits]
        self._ends = [end for _, end, _ in self._edits]
        self._grown = [0, *accumulate(len(content) - (end - start) for start, end, content in self._edits)]

    def span(self, span: Span) -> Span | None:
        """What the code of a span covers now; None if it starts or ends in code that was replaced."""
        start, end = self._offsets(span)
        # Of what is inserted at its ends, nothing belongs to it; of what replaces its first or last part, all.
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end)
        if start < end:
            if any(edit[0] < start for edit in self._edits[first : first + 1]):
                return None
            if last and self._ends[last - 1] > end:
                return None
        return self._after.span(start + self._grown[first], max(start + self._grown[first], end + self._grown[last]))

    def reach(self, span: Span) -> Span:
        """The least that surely holds all that came of the code of a span, with what was put beside it."""
        start, end = self._offsets(span)
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        low = min([start, *self._starts[first : first + 1]])
        high = max([end, *self._ends[max(last - 1, 0) : last]])
        return self._after.span(low + self._grown[first], high + self._grown[last])

    def is_edited(self, span: Span) -> bool:
        """Whether something in or right beside a span was replaced or inserted."""
        start, end = self._offsets(span)
        return bisect_left(self._ends, start) < bisect_right(self._starts, end)

    def _offsets(self, span: Span) -> tuple[int, int]:
        return self._before.offset(span.start), self._before.offset(span.end)
