from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.source import ClientPosition, LineIndex, PositionEncoding, from_client, to_client
from tests.source.texts import texts

UTF8, UTF16, UTF32 = PositionEncoding.UTF8, PositionEncoding.UTF16, PositionEncoding.UTF32
encodings = st.sampled_from(PositionEncoding)
TEXT = "aé😀b\r\n\u2028c\r字"


@pytest.mark.parametrize(
    ("offset", "encoding", "position"),
    [
        (0, UTF8, (0, 0)),
        (2, UTF8, (0, 3)),
        (2, UTF16, (0, 2)),
        (2, UTF32, (0, 2)),
        (3, UTF8, (0, 7)),
        (3, UTF16, (0, 4)),
        (3, UTF32, (0, 3)),
        (5, UTF16, (0, 5)),  # between \r and \n
        (7, UTF8, (1, 3)),
        (7, UTF16, (1, 1)),
        (10, UTF8, (2, 3)),
        (10, UTF32, (2, 1)),
        (99, UTF32, (2, 1)),
    ],
)
def test_to_client(offset: int, encoding: PositionEncoding, position: tuple[int, int]) -> None:
    assert to_client(LineIndex(TEXT), offset, encoding) == ClientPosition(*position)


@pytest.mark.parametrize(
    ("line", "character", "encoding", "offset"),
    [
        (0, 1, UTF8, 1),
        (0, 2, UTF8, 1),  # inside é
        (0, 3, UTF8, 2),
        (0, 6, UTF8, 2),  # inside the emoji
        (0, 7, UTF8, 3),
        (0, 3, UTF16, 2),  # between its surrogates
        (0, 4, UTF16, 3),
        (0, 3, UTF32, 3),
        (0, 99, UTF16, 4),
        (0, 99, UTF32, 4),
        (0, -1, UTF16, 0),
        (1, 0, UTF16, 6),
        (2, 1, UTF16, 10),
        (3, 0, UTF16, 10),
        (-1, 5, UTF16, 0),
    ],
)
def test_from_client(line: int, character: int, encoding: PositionEncoding, offset: int) -> None:
    assert from_client(LineIndex(TEXT), line, character, encoding) == offset


@given(texts(), encodings, st.data())
def test_round_trip(text: str, encoding: PositionEncoding, data: st.DataObject) -> None:
    index = LineIndex(text)
    offset = data.draw(st.integers(0, len(text)))
    inside_crlf = text[max(offset - 1, 0) : offset + 1] == "\r\n"
    assert from_client(index, *to_client(index, offset, encoding), encoding) == offset - inside_crlf


@given(texts(), encodings, st.data())
def test_units_are_those_of_the_encoded_line(text: str, encoding: PositionEncoding, data: st.DataObject) -> None:
    index = LineIndex(text)
    offset = data.draw(st.integers(0, len(text)))
    line, character = to_client(index, offset, encoding)
    position = index.position(offset)
    before = index.line(position.row)[: position.column - 1]
    codec, width = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2), UTF32: ("utf-32-le", 4)}[encoding]
    assert line == position.row - 1
    assert character * width == len(before.encode(codec, "surrogatepass"))


@given(texts(), st.integers(-2, 60), st.integers(-2, 60), encodings)
def test_any_client_position_is_a_place_on_its_line(
    text: str, line: int, character: int, encoding: PositionEncoding
) -> None:
    index = LineIndex(text)
    offset = from_client(index, line, character, encoding)
    assert 0 <= offset <= len(text)
    if 0 <= line < len(index):
        back = to_client(index, offset, encoding)
        assert back.line == line
        assert back.character <= max(character, 0)
