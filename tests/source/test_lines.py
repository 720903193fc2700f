from __future__ import annotations

import ast
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exportlint.findings import Position, Span
from exportlint.source import LineIndex
from tests.source.texts import texts


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", ""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc\n\rd", ["a", "b", "c", "", "d"]),
        ("\r\r\n\n", ["", "", "", ""]),
        ("a\fb\vc\x1cd\x85e\u2028f\u2029g\nh", ["a\fb\vc\x1cd\x85e\u2028f\u2029g", "h"]),
        ("字\n😀x\r\n", ["字", "😀x", ""]),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    index = LineIndex(text)
    assert len(index) == len(lines)
    assert [index.line(row) for row in range(1, len(index) + 1)] == lines


@pytest.mark.parametrize("row", [-1, 0, 3])
def test_a_row_outside_of_the_text_is_an_index_error(row: int) -> None:
    with pytest.raises(IndexError, match=f"row {row} of a text of 2 lines"):
        LineIndex("a\nb").line(row)


@pytest.mark.parametrize(
    ("offset", "position"),
    [
        (-5, Position(1, 1)),
        (0, Position(1, 1)),
        (2, Position(1, 3)),
        (3, Position(1, 3)),  # between \r and \n
        (4, Position(2, 1)),
        (5, Position(2, 2)),
        (6, Position(3, 1)),
        (99, Position(3, 1)),
    ],
)
def test_position(offset: int, position: Position) -> None:
    assert LineIndex("ab\r\n😀\n").position(offset) == position


@pytest.mark.parametrize(
    ("position", "offset"),
    [
        (Position(0, 7), 0),
        (Position(1, 0), 0),
        (Position(1, 3), 2),
        (Position(1, 99), 2),
        (Position(2, 1), 4),
        (Position(2, 99), 5),
        (Position(3, 1), 6),
        (Position(3, 2), 6),
        (Position(4, 1), 6),
    ],
)
def test_offset(position: Position, offset: int) -> None:
    assert LineIndex("ab\r\n😀\n").offset(position) == offset


def test_span_and_slice() -> None:
    index = LineIndex("ab\r\ncd\n")
    span = index.span(1, 5)
    assert span == Span(Position(1, 2), Position(2, 2))
    assert index.slice(span) == "b\r\nc"


@given(texts())
def test_lines_are_what_python_line_ends_make_of_the_text(text: str) -> None:
    index = LineIndex(text)
    assert [index.line(row) for row in range(1, len(index) + 1)] == re.split(r"\r\n|\r|\n", text)


@given(texts(), st.data())
def test_offset_and_position_are_inverse(text: str, data: st.DataObject) -> None:
    index = LineIndex(text)
    offset = data.draw(st.integers(0, len(text)))
    inside_crlf = text[max(offset - 1, 0) : offset + 1] == "\r\n"
    assert index.offset(index.position(offset)) == offset - inside_crlf


_NAMES = ["x", "é", "字", "ñx"]
_LINE_ENDS = ["\n", "\r\n", "\r", "\n\r", "\n\f", "\f\n", " # \f\x85\u2028😀\n", "; ", " \\\n;", " \\\r\n;", " \\\r;"]
_VALUES = ["1", "'é😀'", "'\f\x85\u2028'", "'''\r\n\f\r\n字'''", "(\r1,\r\n\f 2)", "f'{é}'", "'a\\\r\nb'", "b''"]


@given(st.lists(st.tuples(st.sampled_from(_NAMES), st.sampled_from(_VALUES), st.sampled_from(_LINE_ENDS))))
def test_ast_coordinates_are_those_of_the_index(statements: list[tuple[str, str, str]]) -> None:
    text = "".join(f"{name} = {value}{end}" for name, value, end in statements)
    try:
        body = ast.parse(text).body
    except SyntaxError:
        assume(False)
    assert len(body) == len(statements)
    index = LineIndex(text)
    for node, (name, value, _) in zip(body, statements, strict=True):
        assert isinstance(node, ast.Assign)
        assert index.slice(index.span_of(node.targets[0])) == name
        assert index.slice(index.span_of(node.value)) == value
        assert index.slice(index.span_of(node)) == f"{name} = {value}"


def test_form_feed_is_a_column_and_no_line() -> None:
    index = LineIndex("\fif x:\r\n \f\ty = 'é' + z\r")
    branch = ast.parse(index.text).body[0]
    assert isinstance(branch, ast.If)
    assert index.from_ast(branch.lineno, branch.col_offset) == Position(1, 2)
    (statement,) = branch.body
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.value, ast.BinOp)
    assert index.span_of(statement.value.right) == Span(Position(2, 14), Position(2, 15))
