"""Fixes applied to a text: which of them go together, and what comes of it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from exportlint.findings import Edit, Fix
from exportlint.source import LineIndex, Place, replaced

_IMPORT = re.compile(r"\s*import [\w.]+\s*\Z")


def apply(edits: Iterable[Edit], lines: LineIndex) -> str:
    """The text after edits that do not overlap; what is inserted at one place stands there in order."""
    return replaced(lines.text, places(edits, lines))


def places(edits: Iterable[Edit], lines: LineIndex) -> list[Place]:
    """Edits in order, each once."""
    return sorted({(lines.offset(edit.span.start), lines.offset(edit.span.end), edit.content) for edit in edits})


def compatible(fixes: Iterable[Fix], lines: LineIndex) -> list[Fix]:
    """The fixes that can be applied together, in any order: of those that get into each other's way the first.

    Fixes do so where their edits overlap or touch, for then it would matter which comes first, or where they bring the
    same variable. Edits that are the same, such as an import that two fixes need, are one.
    """
    chosen: list[Fix] = []
    taken: list[Place] = []
    names: set[tuple[int, str]] = set()
    for fix in sorted(fixes, key=lambda fix: (fix.edits, fix.applicability.rank, fix.message)):
        wanted = places(fix.edits, lines)
        if names.isdisjoint(fix.names) and all(_is_free(place, taken) for place in wanted):
            chosen.append(fix)
            names |= fix.names
            for place in wanted:
                at = bisect_left(taken, place)
                if taken[at : at + 1] != [place]:
                    taken.insert(at, place)
    return chosen


def _is_free(place: Place, taken: list[Place]) -> bool:
    """Whether an edit goes together with others, which are in order and do not overlap."""
    start, end, _ = place
    after = bisect_right(taken, end, key=lambda other: other[0])
    while after and taken[after - 1][1] >= start:
        after -= 1
        other = taken[after]
        if other != place and not (_imports(place) and _imports(other)):
            return False
    return True


def _imports(place: Place) -> bool:
    """Whether an edit only adds an import: in which order such lines come is all the same."""
    start, end, content = place
    return start == end and _IMPORT.match(content) is not None
