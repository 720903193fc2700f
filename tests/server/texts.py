"""Places of a text as a client counts them, worked out without the server's code."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import TypeAlias

from lsprotocol import types

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

AnyEdit: TypeAlias = types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit


def units(text: str, encoding: str) -> int:
    """How many characters of the protocol a text has."""
    codec, size = _UNITS[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


def position(text: str, offset: int, encoding: str) -> types.Position:
    """The client's position of an offset."""
    row, start = [(row, start) for row, start in enumerate(_starts(text)) if start <= offset][-1]
    return types.Position(row, units(text[start:offset], encoding))


def offset(text: str, place: types.Position, encoding: str) -> int:
    """The offset of a client's position, which has to be a place of the text."""
    starts = _starts(text)
    assert 0 <= place.line < len(starts), f"line {place.line} of a text of {len(starts)} lines"
    line = _line(text, starts[place.line])
    ends = {units(line[:length], encoding): length for length in range(len(line) + 1)}
    assert place.character in ends, f"{place} is not between two characters of {line!r}"
    return starts[place.line] + ends[place.character]


def range_of(text: str, piece: str, encoding: str) -> types.Range:
    """The client's range of a piece of a text that is in it once."""
    assert text.count(piece) == 1, f"{piece!r} is {text.count(piece)} times in the text"
    start = text.index(piece)
    return types.Range(position(text, start, encoding), position(text, start + len(piece), encoding))


def piece(text: str, place: types.Range, encoding: str) -> str:
    """What a client's range covers."""
    return text[offset(text, place.start, encoding) : offset(text, place.end, encoding)]


def edited(text: str, edits: Iterable[AnyEdit], encoding: str) -> str:
    """The text after edits, as a client applies them: all are about the text before, and none overlap."""
    places = []
    for edit in edits:
        assert isinstance(edit, types.TextEdit)
        places.append((offset(text, edit.range.start, encoding), offset(text, edit.range.end, encoding), edit.new_text))
    places.sort(key=lambda place: place[:2])
    for (_, end, _), (start, _, _) in itertools.pairwise(places):
        assert end <= start, "edits overlap"
    for start, end, content in reversed(places):
        text = text[:start] + content + text[end:]
    return text


def _starts(text: str) -> list[int]:
    starts = [0]
    while (found := _LINE.match(text, starts[-1])) is not None and found[0].endswith(("\r", "\n")):
        starts.append(found.end())
    return starts


def _line(text: str, start: int) -> str:
    found = _LINE.match(text, start)
    assert found is not None
    return found[0].rstrip("\r\n")
