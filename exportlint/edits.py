"""Fixes applied to a text: which of them go together, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable

from exportlint.findings import Edit, Fix
from exportlint.source import LineIndex


def apply(edits: Iterable[Edit], lines: LineIndex) -> str:
    """The text after edits that do not overlap; what is inserted at one place stands there in order."""
    parts: list[str] = []
    end = 0
    for start, stop, content in sorted({(*_offsets(edit, lines), edit.content) for edit in edits}):
        parts += [lines.text[end:start], content]
        end = stop
    return "".join([*parts, lines.text[end:]])


def compatible(fixes: Iterable[Fix], lines: LineIndex) -> list[Fix]:
    """The fixes that can be applied together: of those that overlap the one that starts first.

    Edits that are the same, such as an import that two fixes need, are one.
    """
    chosen: list[Fix] = []
    taken: dict[tuple[int, int], str] = {}
    for fix in sorted(fixes, key=lambda fix: fix.edits):
        wanted = {_offsets(edit, lines): edit.content for edit in fix.edits}
        if all(
            taken.get(place) == content or not any(_meet(place, other) for other in taken)
            for place, content in wanted.items()
        ):
            chosen.append(fix)
            taken.update(wanted)
    return chosen


def _offsets(edit: Edit, lines: LineIndex) -> tuple[int, int]:
    return lines.offset(edit.span.start), lines.offset(edit.span.end)


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two ranges overlap or touch, so that the result would depend on which comes first."""
    return one[0] <= other[1] and other[0] <= one[1]
