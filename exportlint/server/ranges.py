"""Places of a text as the client counts them."""

from __future__ import annotations

from lsprotocol import types

from exportlint.findings import Edit, Position, Span
from exportlint.source import (
    ClientPosition,
    LineIndex,
    PositionEncoding,
    from_client,
    position_to_client,
    to_client,
)

BOM = "\ufeff"
"""A byte order mark, which clients may count as a character of the first line, and findings do not."""


def range_of(span: Span, lines: LineIndex, encoding: PositionEncoding) -> types.Range:
    """The client's range of a span."""
    if span.start.row == 1 and lines.text.startswith(BOM):
        span = Span(*(_moved(place, 1) for place in (span.start, span.end)))
    return _range(*(position_to_client(lines, place, encoding) for place in (span.start, span.end)))


def range_between(start: int, end: int, lines: LineIndex, encoding: PositionEncoding) -> types.Range:
    """The client's range between two offsets."""
    return _range(*(to_client(lines, offset, encoding) for offset in (start, end)))


def _range(first: ClientPosition, last: ClientPosition) -> types.Range:
    return types.Range(types.Position(*first), types.Position(*last))


def offset_of(position: types.Position, lines: LineIndex, encoding: PositionEncoding) -> int:
    """The offset of a client's position, clamped into the text."""
    return from_client(lines, position.line, position.character, encoding)


def span_of(place: types.Range, lines: LineIndex, encoding: PositionEncoding) -> Span:
    """The span of a client's range, clamped into the text."""
    start, end = (offset_of(position, lines, encoding) for position in (place.start, place.end))
    span = lines.span(min(start, end), max(start, end))
    return Span(*(_moved(place, -1) for place in (span.start, span.end))) if lines.text.startswith(BOM) else span


def _moved(place: Position, columns: int) -> Position:
    return Position(1, max(place.column + columns, 1)) if place.row == 1 else place


def text_edit(edit: Edit, lines: LineIndex, encoding: PositionEncoding) -> types.TextEdit:
    """An edit as the client applies it."""
    return types.TextEdit(range_of(edit.span, lines, encoding), edit.content)
