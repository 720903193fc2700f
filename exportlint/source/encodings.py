"""Positions as language clients count them: lines and characters from 0, characters in units both sides agreed on."""

from __future__ import annotations

import tokenize
from enum import Enum
from typing import NamedTuple

from exportlint.findings import Position
from exportlint.source.lines import LineIndex

_HEAD = 1000
"""Characters in which the declaration of an encoding stands, if there is one."""


class PositionEncoding(str, Enum):
    """What one `character` of a client's position is: a byte, a UTF-16 code unit, or a code point."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


class ClientPosition(NamedTuple):
    """`Position` of the Language Server Protocol."""

    line: int
    character: int


def to_client(lines: LineIndex, offset: int, encoding: PositionEncoding) -> ClientPosition:
    """The client's position of an offset, clamped into the text."""
    return _counted(lines, lines.position(offset), encoding)


def position_to_client(lines: LineIndex, position: Position, encoding: PositionEncoding) -> ClientPosition:
    """The client's position of a position, clamped into the text."""
    return _counted(lines, lines.clamped(position), encoding)


def _counted(lines: LineIndex, position: Position, encoding: PositionEncoding) -> ClientPosition:
    if lines.is_ascii:
        return ClientPosition(position.row - 1, position.column - 1)
    start = lines.line_start(position.row)
    before = lines.text[start : start + position.column - 1]
    return ClientPosition(position.row - 1, _units(before, encoding))


def from_client(lines: LineIndex, line: int, character: int, encoding: PositionEncoding) -> int:
    """The offset of a client's position.

    A character past the end of its line is the line's end, as the protocol has it; one inside of a code point is the
    code point's start; lines outside of the text are clamped.
    """
    if not 0 <= line < len(lines):
        return lines.offset(Position(line + 1, 1))
    text = lines.line(line + 1)
    return lines.line_start(line + 1) + _code_points(text, max(character, 0), encoding)


def _units(text: str, encoding: PositionEncoding) -> int:
    if encoding is PositionEncoding.UTF32 or text.isascii():
        return len(text)
    if encoding is PositionEncoding.UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _code_points(text: str, units: int, encoding: PositionEncoding) -> int:
    """How many whole code points of `text` fit into `units`."""
    if encoding is PositionEncoding.UTF32 or text.isascii():
        return min(units, len(text))
    taken = 0
    for count, char in enumerate(text):
        taken += _units(char, encoding)
        if taken > units:
            return count
    return len(text)


def as_saved(text: str) -> bytes:
    """The bytes that an editor saves of a Python text: in the encoding that its first lines declare, else in UTF-8.

    Where that encoding lacks a character there is a question mark, which keeps all others at their place. What no
    encoding can save, such as an unknown declaration, is UTF-8 too, and reading it says what is wrong.
    """
    if text.startswith("\ufeff"):
        return text.encode("utf-8", "replace")
    try:
        encoding = tokenize.detect_encoding(iter(text[:_HEAD].encode("utf-8", "replace").splitlines(True)).__next__)[0]
        return text.encode(encoding, "replace")
    except (SyntaxError, LookupError, ValueError):
        return text.encode("utf-8", "replace")
