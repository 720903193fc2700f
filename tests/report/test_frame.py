from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.findings import Position, Span
from exportlint.report.context import Context, printable
from exportlint.report.frame import frame
from exportlint.source import LineIndex

PLAIN = Context(Path("/project"), lambda _: None)


def drawn(text: str, start: tuple[int, int], end: tuple[int, int]) -> list[str]:
    return frame(LineIndex(text), Span(Position(*start), Position(*end)), "error", PLAIN)[0]


@pytest.mark.parametrize(
    ("text", "start", "end", "expected"),
    [
        ("x = 1\n", (1, 5), (1, 6), [" 1 | x = 1", "   |     ^"]),
        ("x = 1", (1, 1), (1, 6), [" 1 | x = 1", "   | ^^^^^"]),
        # Two rows of context, without blank ones at the edges.
        (
            "a\nb\n\nd\ne\nf\n\nh\n",
            (5, 1),
            (5, 2),
            [" 4 | d", " 5 | e", "   | ^", " 6 | f"],
        ),
        ("a\n" * 12, (10, 1), (10, 2), ["  8 | a", "  9 | a", " 10 | a", "    | ^", " 11 | a", " 12 | a"]),
        # An empty place, at the end of a line or of the text, still has a mark.
        ("x = (\n", (1, 6), (1, 6), [" 1 | x = (", "   |      ^"]),
        ("x\n", (2, 1), (2, 1), [" 1 | x", " 2 |", "   | ^"]),
        ("", (1, 1), (1, 2), [" 1 |", "   | ^"]),
        # What a terminal shows wider, narrower or not at all.
        ("\tif x:\n", (1, 5), (1, 6), [" 1 |     if x:", "   |        ^"]),
        ("a\tb\tc\n", (1, 5), (1, 6), [" 1 | a   b   c", "   |         ^"]),
        ("s = '中文', x\n", (1, 11), (1, 12), [" 1 | s = '中文', x", "   |             ^"]),
        ("s = '中文'\n", (1, 6), (1, 8), [" 1 | s = '中文'", "   |      ^^^^"]),
        ("e\N{COMBINING ACUTE ACCENT} = x\n", (1, 6), (1, 7), [" 1 | e\N{COMBINING ACUTE ACCENT} = x", "   |     ^"]),
        ("'\x1b[31m' + x\n", (1, 11), (1, 12), [" 1 | '\N{SYMBOL FOR ESCAPE}[31m' + x", "   |           ^"]),
        # Several rows.
        (
            "x = f(\n    1,\n)\n",
            (1, 5),
            (3, 2),
            [" 1 |   x = f(", "   |  _____^", " 2 | |     1,", " 3 | | )", "   | |_^"],
        ),
        ("f(\n    1,\n)\ng\n", (1, 1), (3, 2), [" 1 | / f(", " 2 | |     1,", " 3 | | )", "   | |_^", " 4 |   g"]),
        # Other line ends.
        ("a\r\nb\r\n", (2, 1), (2, 2), [" 1 | a", " 2 | b", "   | ^"]),
        ("a\rb\x0c\u2028c\r", (2, 1), (2, 2), [" 1 | a", " 2 | b\N{SYMBOL FOR FORM FEED}\ufffdc", "   | ^"]),
    ],
)
def test_frames(text: str, start: tuple[int, int], end: tuple[int, int], expected: list[str]) -> None:
    assert drawn(text, start, end) == expected


def test_a_long_span_is_shown_in_part() -> None:
    rows = drawn("f(\n" + "".join(f"    {i},\n" for i in range(2, 40)) + ")\n", (1, 1), (40, 2))
    assert rows[:2] == ["  1 | / f(", "  2 | |     2,"]
    assert rows[-3:] == [" 39 | |     39,", " 40 | | )", "    | |_^"]
    assert len(rows) < 12
    assert " ... |" in rows


def test_of_a_very_long_line_the_place_is_shown() -> None:
    text = f"x = [{'1, ' * 5000}bad, {'2, ' * 5000}]\n"
    column = text.index("bad") + 1
    code, mark = drawn(text, (1, column), (1, column + 3))
    assert len(code) < 200
    assert code[mark.index("^") : mark.rindex("^") + 1] == "bad"


@pytest.mark.parametrize(("start", "end"), [((3, 1), (3, 2)), ((2, 1), (1, 1)), ((1, 1), (9, 1))])
def test_a_place_outside_of_the_text_has_no_frame(start: tuple[int, int], end: tuple[int, int]) -> None:
    assert drawn("a\n", start, end) == []


@pytest.mark.thorough
@given(st.text(max_size=40), st.data())
def test_any_text_and_place_can_be_drawn(text: str, data: st.DataObject) -> None:
    lines = LineIndex(text)
    rows = sorted(data.draw(st.lists(st.integers(1, len(lines)), min_size=2, max_size=2)))
    columns = data.draw(st.lists(st.integers(1, 45), min_size=2, max_size=2))
    if rows[0] == rows[1]:
        columns.sort()
    result = drawn(text, (rows[0], columns[0]), (rows[1], columns[1]))
    assert any("^" in row for row in result)
    assert all(char.isprintable() or char in "\u200c\u200d" or ord(char) > 0xA0 for row in result for char in row)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é中", "plain é中"),
        ("a\x1b]0;title\x07b", "a\N{SYMBOL FOR ESCAPE}]0;title\N{SYMBOL FOR BELL}b"),
        ("two\r\nlines", "two\N{SYMBOL FOR CARRIAGE RETURN}\N{SYMBOL FOR LINE FEED}lines"),
        ("del\x7f c1\x9b", "del\N{SYMBOL FOR DELETE} c1\ufffd"),
        ("rtl\u202e", "rtl\ufffd"),
    ],
)
def test_nothing_reaches_the_terminal_as_a_command(text: str, expected: str) -> None:
    assert printable(text) == expected
