"""Edits while a fix is being put together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

NEWLINE = re.compile(r"\r\n?|\n")


class Verbatim(str):
    """Source whose lines are indented already."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Draft:
    r"""`text` instead of what stands between two offsets of the file. Its lines end with `\n`, whatever the file's."""

    start: int
    end: int
    text: str


def one_a_place(drafts: Iterable[Draft]) -> Iterable[Draft]:
    """Drafts without repetition; insertions at the same place are one."""
    inserted: dict[int, str] = {}
    for draft in dict.fromkeys(drafts):
        if draft.start < draft.end:
            yield draft
        else:
            inserted[draft.start] = inserted.get(draft.start, "") + draft.text
    yield from (Draft(place, place, text) for place, text in inserted.items())
