"""Places of a text as the client counts them."""

from __future__ import annotations

from lsprotocol import types

from exportlint.findings import Edit, Span
from exportlint.source import LineIndex, PositionEncoding, from_client, to_client


def range_of(span: Span, lines: LineIndex, encoding: PositionEncoding) -> types.Range:
    """The client's range of a span."""
    return range_between(lines.offset(span.start), lines.offset(span.end), lines, encoding)


def range_between(start: int, end: int, lines: LineIndex, encoding: PositionEncoding) -> types.Range:
    """The client's range between two offsets."""
    first, last = (to_client(lines, offset, encoding) for offset in (start, end))
    return types.Range(types.Position(*first), types.Position(*last))


def offset_of(position: types.Position, lines: LineIndex, encoding: PositionEncoding) -> int:
    """The offset of a client's position, clamped into the text."""
    return from_client(lines, position.line, position.character, encoding)


def span_of(place: types.Range, lines: LineIndex, encoding: PositionEncoding) -> Span:
    """The span of a client's range, clamped into the text."""
    start, end = (offset_of(position, lines, encoding) for position in (place.start, place.end))
    return lines.span(min(start, end), max(start, end))


def text_edit(edit: Edit, lines: LineIndex, encoding: PositionEncoding) -> types.TextEdit:
    """An edit as the client applies it."""
    return types.TextEdit(range_of(edit.span, lines, encoding), edit.content)
