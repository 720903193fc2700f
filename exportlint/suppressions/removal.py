"""Taking instructions, or entries of their lists, out of comments."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from exportlint.findings import Applicability, Edit, Fix, Position, Span
from exportlint.source import Comment

_SEPARATORS = " \t\f,;:-\u2013\u2014"
_INSTRUCTION = re.compile(r"[\w.-]+\s*[:=]|no(?:qa|sec|pep8|semgrep)\b|-\*-|!|%%", re.IGNORECASE)
"""What the rest of a comment may begin with that some tool takes for an instruction where it begins the comment."""


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction as it stands in its comment: from the `#` to the end of its list, with the entries of that."""

    comment: Comment
    span: Span
    entries: tuple[Span, ...] = ()


def removal(message: str, *parts: tuple[Place, Collection[Span]]) -> Fix:
    """The fix that takes some entries out of instructions, or an instruction without any entry that stays.

    Words behind an instruction stay. The fix is safe unless they may become an instruction by that.
    """
    cuts = [_without(place, gone) for place, gone in parts]
    safe = all(safe for _, safe in cuts)
    return Fix(Applicability.SAFE if safe else Applicability.UNSAFE, message, tuple(sorted(edit for edit, _ in cuts)))


def _without(place: Place, gone: Collection[Span]) -> tuple[Edit, bool]:
    if any(entry not in gone for entry in place.entries):
        return _shortened(place, gone), True
    comment, text = place.comment, place.comment.text
    start, end = (position.column - comment.column for position in (place.span.start, place.span.end))
    rest = text[end:].lstrip(_SEPARATORS)
    if rest:
        words = not rest.startswith("#")
        cut = _cut(comment, start, len(text) - len(rest), "# " if words else "")
        return cut, not (words and _INSTRUCTION.match(rest))
    before = text[:start].rstrip()
    if before:
        return _cut(comment, len(before), len(text)), True
    if comment.own_line:
        return Edit(Span(Position(comment.row, 1), Position(comment.row + 1, 1)), ""), True
    return _cut(comment, -comment.blanks, len(text)), True


def _shortened(place: Place, gone: Collection[Span]) -> Edit:
    comment, entries = place.comment, place.entries
    starts = [entry.start.column - comment.column for entry in entries]
    end = entries[-1].end.column - comment.column
    kept = [
        comment.text[start:stop]
        for entry, start, stop in zip(entries, starts, [*starts[1:], end], strict=True)
        if entry not in gone
    ]
    return _cut(comment, starts[0], end, "".join(kept).rstrip(" \t\f,"))


def _cut(comment: Comment, start: int, end: int, content: str = "") -> Edit:
    return Edit(span_in(comment, start, end), content)


def span_in(comment: Comment, start: int, end: int) -> Span:
    """The span of a part of a comment, by its offsets."""
    return Span(Position(comment.row, comment.column + start), Position(comment.row, comment.column + end))
