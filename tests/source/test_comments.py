from __future__ import annotations

import ast
import io
import sys
import sysconfig
import tokenize
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.source import LineIndex, SourceError, comments, read
from tests.source.texts import texts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # (row, column, text, own line, first and last row of the logical line)
        ("", []),
        ("x = 1", []),
        ("#", [(1, 1, "#", True, 1, 1)]),
        ("x = 1  # a b \n", [(1, 8, "# a b ", False, 1, 1)]),
        (
            "x = 1 # é\r\ny # 😀\rz # c\n\r# d",
            [(1, 7, "# é"), (2, 3, "# 😀"), (3, 3, "# c"), (5, 1, "# d", True, 5, 5)],
        ),
        ("\fx # a\x0c\u2028b\n", [(1, 4, "# a\x0c\u2028b", False, 1, 1)]),
        ("s = '#'; t = \"#\" # a\n", [(1, 18, "# a", False, 1, 1)]),
        ("'''\n# no\n''' # a\n", [(3, 5, "# a", False, 1, 3)]),
        ("r'\\' # in the string\n' # in another\n", []),
        ("r'\\'' # a\n", [(1, 7, "# a", False, 1, 1)]),
        ("'\\\\' # a\n", [(1, 6, "# a", False, 1, 1)]),
        ("'a\\\n# no' # a\n", [(2, 7, "# a", False, 1, 2)]),
        (
            "f(1, # a\n  # b\n  2) # c\n",
            [(1, 6, "# a", False, 1, 3), (2, 3, "# b", True, 1, 3), (3, 6, "# c", False, 1, 3)],
        ),
        ("x = 1 + \\\r\n  2 # a\n", [(2, 5, "# a", False, 1, 2)]),
        ("if x: # a\n    y # b\n", [(1, 7, "# a", False, 1, 1), (2, 7, "# b", False, 2, 2)]),
        ("def f(\n    x,\n): # a\n    return x\n", [(3, 4, "# a", False, 1, 3)]),
        ("# a\n\n  # b\nx = [\n]\n", [(1, 1, "# a", True, 4, 5), (3, 3, "# b", True, 4, 5)]),
        ("x\n  # a\n", [(2, 3, "# a", True, 2, 2)]),
        ("x = 1 # a\n# b\ny", [(1, 7, "# a", False, 1, 1), (2, 1, "# b", True, 3, 3)]),
        ("@d # a\nclass C: # b\n", [(1, 4, "# a", False, 1, 1), (2, 10, "# b", False, 2, 2)]),
    ],
)
def test_comments(text: str, found: list[tuple[object, ...]]) -> None:
    result = [(c.row, c.column, c.text, c.own_line, c.logical_start_row, c.logical_end_row) for c in comments(text)]
    assert [got[: len(want)] for got, want in zip(result, found, strict=True)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = foo(  # a\n# b\ndef f():  # c\n", ["# a", "# b", "# c"]),
        ("x = 'abc  # in the string\ny = 1  # a\n", ["# a"]),
        ("x = ]})  # a\n", ["# a"]),
        ("# a\nx = '''  # in the string\n\ny = 1  # too\n", ["# a"]),
        ("print f'{x  # in the string\ny = 1  # a\n", ["# a"]),
        ("f'{x' # a\nf'{d[' # b\nf'}' # c\n", ["# a", "# b", "# c"]),
        ("if a:\n\tb # a\n        c # b\n  d # c", ["# a", "# b", "# c"]),
        ("?$! # a\n\0 # b\n", ["# a", "# b"]),
        ("\\", []),
        ("x \\ # a\n", ["# a"]),
        ("'\\", []),
    ],
)
def test_comments_of_broken_code(text: str, found: list[str]) -> None:
    assert [comment.text for comment in comments(text)] == found


def test_comment_of_an_unclosed_bracket_is_in_its_logical_line() -> None:
    (comment,) = comments("y = 1\nx = foo(  # a\nz = 2")
    assert (comment.logical_start_row, comment.logical_end_row) == (2, 3)


def test_end_offset() -> None:
    text = "x # a\r\n"
    (comment,) = comments(text)
    assert text[comment.start_offset : comment.end_offset] == comment.text == "# a"


@given(texts() | st.text(alphabet="af#'\"{}()[]:\\\r\n \tN=!"))
def test_comments_of_any_text(text: str) -> None:
    index = LineIndex(text)
    found = comments(text, index)
    assert found == comments(text)
    assert [comment.start_offset for comment in found] == sorted({comment.start_offset for comment in found})
    for comment in found:
        position = index.position(comment.start_offset)
        assert (position.row, position.column) == (comment.row, comment.column)
        line = index.line(comment.row)
        at = comment.column - 1
        before, after = line[:at], line[at + len(comment.text) :]
        assert (comment.text[0], after) == ("#", "")
        assert comment.own_line == (not before.strip(" \t\f"))
        assert 1 <= comment.logical_start_row <= comment.logical_end_row <= len(index)
        assert comment.row <= comment.logical_end_row


_PARTS = ["x = 1", "f(1,\n2)", "'#'", "'''\n#\n'''", "if x:\n  y", "x = \\\n 1", "f'{x!r:#>{w}}'", "", "", "rb'#'"]


@given(st.lists(st.tuples(st.sampled_from(_PARTS), st.sampled_from(["", "# c", "  # é", "\n# own", "\n\n  # own"]))))
def test_logical_lines_are_those_of_the_statements(parts: list[tuple[str, str]]) -> None:
    text = "".join(f"{code}{comment}\n" for code, comment in parts)
    found = comments(text)
    assert [comment.text for comment in found] == [comment.strip() for _, comment in parts if comment]
    first_rows: dict[int, int] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            first_rows[node.lineno] = node.body[0].lineno - 1 if isinstance(node, ast.If) else node.end_lineno or 0
    for comment in found:
        if comment.row != comment.logical_start_row or not comment.own_line:
            assert first_rows[comment.logical_start_row] == comment.logical_end_row
        else:
            assert all(row < comment.row for row in first_rows)


def _tokenized(text: str) -> list[tuple[object, ...]]:
    """What `comments` gives, by the tokenizer of Python."""
    found: list[tuple[object, ...]] = []
    waiting: list[tuple[int, int, str]] = []
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        row, column = token.start
        if token.type == tokenize.COMMENT:
            waiting.append((row, column + 1, token.string))
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            found += [(*comment, first or comment[0], row if first else comment[0]) for comment in waiting]
            waiting, first = [], 0
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            first = first or row
    return found


_STDLIB = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize(
    "path", sorted([*_STDLIB.glob("[a-d]*.py"), *_STDLIB.glob("test/test_*string*.py"), *_STDLIB.glob("lib2to3/*.py")])
)
def test_comments_of_real_code_are_those_of_tokenize(path: Path) -> None:
    try:
        text = read(path).text
    except SourceError as error:
        pytest.skip(str(error))
    expected = _tokenized(text)
    result = [(c.row, c.column, c.text, c.logical_start_row, c.logical_end_row) for c in comments(text)]
    assert result == expected


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("repeated", "rest"),
    [
        ("f'{", "#"),
        ("x = f'{a\n", "#"),
        ("f'''{", "#"),
        ('f"{x:', "#"),
        ("f'\\N{", "#"),
        ("f'{(", "#"),
        ("'\\", "#"),
        ("(", "#\n"),
        ("x = [1, 2, 'a']  # c\n", ""),
    ],
)
def test_work_is_linear(repeated: str, rest: str) -> None:
    def lines_run(text: str) -> int:
        count = 0

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            comments(text)
        finally:
            sys.settrace(before)
        return count

    assert lines_run(repeated * 2_000 + rest) <= 2.2 * lines_run(repeated * 1_000 + rest)
    comments(repeated * 30_000 + rest)  # what regular expressions do is not counted: quadratic would take minutes
