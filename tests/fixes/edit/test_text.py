"""The text that fixes see: edits of it change nothing of the file beside them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exportlint.edits import apply
from exportlint.fixes.edit.drafts import NEWLINE, Draft
from exportlint.fixes.edit.text import Text
from exportlint.source import from_text
from tests.fixes.edit.layouts import File, programs

TEXTS = st.text(st.sampled_from("ab\n\r\t é𝒳\x0c\x0b\u2028#"), max_size=30) | programs()


@st.composite
def texts_and_drafts(draw: st.DrawFn) -> tuple[str, list[Draft]]:
    """A text, and edits that neither overlap nor touch of what fixes see of it."""
    text = draw(TEXTS)
    seen = NEWLINE.sub("\n", text)
    ends = sorted(draw(st.sets(st.integers(0, len(seen)), max_size=8)))
    pairs = zip(ends[::2], ends[1::2], strict=False)
    return text, [Draft(start, end, draw(st.sampled_from(["", "x", "y\n", "\nz\n"]))) for start, end in pairs]


@given(texts_and_drafts())
def test_what_is_beside_edits_stays(case: tuple[str, list[Draft]]) -> None:
    text, drafts = case
    seen = NEWLINE.sub("\n", text)
    pieces = NEWLINE.findall(text)
    raw = [pieces.pop(0) if char == "\n" else char for char in seen]  # what stands in the file for each
    source = from_text(text, Path("x.py"))
    fixes = Text(source)
    marked = apply(fixes.edits([Draft(draft.start, draft.end, "|") for draft in drafts]), source.lines)
    ends = [0, *(end for draft in drafts for end in (draft.start, draft.end)), len(raw)]
    kept = ["".join(raw[start:end]) for start, end in zip(ends[::2], ends[1::2], strict=True)]
    assert marked == "|".join(kept)
    # CR and LF would come together
    assume("\r" not in NEWLINE.findall(text) or all(draft.text and draft.text[-1] != "\n" for draft in drafts))
    after = seen
    for draft in reversed(drafts):
        after = after[: draft.start] + draft.text + after[draft.end :]
    assert NEWLINE.sub("\n", apply(fixes.edits(drafts), source.lines)) == after


@given(programs())
def test_nodes_are_where_their_source_is(text: str) -> None:
    file = File(text)
    for node in ast.walk(file.root):
        if isinstance(node, ast.Name) and not isinstance(file.tree.parents[node], ast.FormattedValue):
            assert file.text.of(node) == node.id
            start, end = file.text.outer(node)
            assert file.text.between(start, end).strip("()") == node.id


@pytest.mark.parametrize(
    ("text", "inserted"),
    [
        ("a\r\nb\r\n", "a\r\nx\r\nb\r\n"),
        ("a\rb\r", "a\rx\rb\r"),
        ("a\r\nb\n", "a\r\nx\nb\n"),
        ("a\nb", "a\nx\nb"),
    ],
)
def test_what_is_inserted_has_the_line_ends_of_its_line(text: str, inserted: str) -> None:
    source = from_text(text, Path("x.py"))
    assert apply(Text(source).edits([Draft(2, 2, "x\n")]), source.lines) == inserted


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f((a), b)", "(a)"),
        ("f(a)", "a"),
        ("(a)(b)", "(a)"),
        ("x = ((\n  a  # why\n))", "((\n  a  # why\n))"),
        ("f()\n(a)[0]", "(a)"),
        ("if (a): pass", "(a)"),
        ("x = (f'{a}')", "a"),
        ("x = (b for b in a)", "a"),
        ("x = [(a)]", "(a)"),
        ("x = 'b'(a)", "a"),
    ],
)
def test_parentheses_around_a_node(source: str, expected: str) -> None:
    file = File(source)
    node = next(n for n in ast.walk(file.root) if isinstance(n, ast.Name) and n.id == "a")
    assert file.text.between(*file.text.outer(node)) == expected
