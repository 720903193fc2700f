"""Edits while a fix is being put together.

A `Draft` replaces a range of the text; `narrowed` makes one smaller, `composed` joins two rounds, `applied` gives the
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_WORDS = re.compile(r"\w+|[^\S\n]+|.|\n", re.DOTALL)
NEWLINE = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True, order=True)
class Draft:
    r"""`text` instead of what stands between two offsets of the file. Its lines end with `\n`, whatever the file's.

    `drops`: what it leaves out goes with its comments.
    """

    start: int
    end: int
    text: str
    drops: bool = False


def narrowed(draft: Draft, text: str) -> Draft:
    """The same draft without the tokens that it has in common with what it replaces, at its start and at its end."""
    old, new = _WORDS.findall(text[draft.start : draft.end]), _WORDS.findall(draft.text)
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    start = draft.start + sum(map(len, old[:first]))
    return Draft(start, start + sum(map(len, old[first : len(old) - last])), "".join(new[first : len(new) - last]))


def applied(text: str, drafts: Iterable[Draft]) -> str:
    """A text after drafts, which are in order and do not overlap."""
    pieces, end = [], 0
    for draft in drafts:
        pieces += [text[end : draft.start], draft.text]
        end = draft.end
    return "".join([*pieces, text[end:]])


def composed(text: str, first: Sequence[Draft], second: Sequence[Draft]) -> list[Draft]:
    """Drafts of a text that do what the first ones do, and then the second ones to what comes of that.

    Both are in order, and none of them overlap.
    """
    between = applied(text, first)
    ranges: list[tuple[int, int]] = []
    grown = 0
    shifts = [(-1, 0)]  # from where on the text between is longer by how much
    for draft in first:
        start = draft.start + grown
        ranges.append((start, start + len(draft.text)))
        grown += len(draft.text) - (draft.end - draft.start)
        shifts.append((start + len(draft.text), grown))
    clusters: list[list[int]] = []
    for start, end in sorted([*ranges, *((draft.start, draft.end) for draft in second)]):
        if clusters and start <= clusters[-1][1]:
            clusters[-1][1] = max(clusters[-1][1], end)
        else:
            clusters.append([start, end])
    found = []
    for start, end in clusters:
        inside = [Draft(d.start - start, d.end - start, d.text) for d in second if start <= d.start and d.end <= end]
        low = start - next(by for place, by in reversed(shifts) if place < start)
        high = end - next(by for place, by in reversed(shifts) if place <= end)
        found.append(Draft(low, high, applied(between[start:end], inside)))
    return found


def one_a_place(drafts: Iterable[Draft]) -> Iterable[Draft]:
    """Drafts without repetition; insertions at the same place are one."""
    inserted: dict[int, str] = {}
    for draft in dict.fromkeys(drafts):
        if draft.start < draft.end:
            yield draft
        else:
            inserted[draft.start] = inserted.get(draft.start, "") + draft.text
    yield from (Draft(place, place, text) for place, text in inserted.items())
