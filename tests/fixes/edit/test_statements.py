"""Edits of statements, in any layout: the tree changes as it should, and no comment is lost or string changed."""

from __future__ import annotations

import ast
from collections import Counter

from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import statements
from exportlint.fixes.errors import DeclinedError
from exportlint.source import comments
from tests.fixes.edit.layouts import File, programs

MARK = "mark(\n  1)"
ONE, MARKED = statements("x = 1"), statements(MARK)
MARK_NODE = ast.parse(MARK).body[0]

some = given(programs(), st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 3))
often = settings(max_examples=25)


def dump(tree: ast.AST) -> str:
    return ast.dump(tree)


def chosen(file: File, block: int, first: int, count: int) -> tuple[int, int, int]:
    blocks = file.blocks()
    block %= len(blocks)
    first %= len(blocks[block])
    return block, first, min(first + count, len(blocks[block]))


def check(file: File, after: str, block: int, first: int, last: int, new: list[ast.stmt]) -> None:
    expected = File(file.source.text)
    expected.blocks()[block][first:last] = new
    assert dump(ast.parse(after)) == dump(expected.root)


def check_comments(text: str, draft: Draft, after: str) -> None:
    """Only those are lost that stand between statements in what is replaced: a fix that does so is not safe."""
    replaced = text.replace("\r\n", "\n").replace("\r", "\n")[draft.start : draft.end]  # as fixes see it
    assert all(replaced.count(comment) >= count for comment, count in (words(text) - words(after)).items())


def words(text: str) -> Counter[str]:
    return Counter(comment.text for comment in comments(text))


@some
@often
def test_insert_before(text: str, block: int, first: int, count: int) -> None:
    file = File(text)
    block, first, _ = chosen(file, block, first, count)
    after = file.edited(file.statements.insert_before(file.blocks()[block][first], [*ONE, *MARKED]))
    check(file, after, block, first, first, [*ast.parse("x = 1").body, MARK_NODE])
    assert words(after) == words(text)


@some
@often
def test_insert_after(text: str, block: int, first: int, count: int) -> None:
    file = File(text)
    block, first, _ = chosen(file, block, first, count)
    after = file.edited(
        file.statements.insert_after(file.blocks()[block][first], [*MARKED, *statements("if c:\n    x = 1")])
    )
    check(file, after, block, first + 1, first + 1, [MARK_NODE, *ast.parse("if c: x = 1").body])
    assert words(after) == words(text)


@some
@often
def test_replace(text: str, block: int, first: int, count: int) -> None:
    file = File(text)
    block, first, last = chosen(file, block, first, count)
    draft = file.statements.replace(file.blocks()[block][first:last], [*MARKED, *ONE])
    after = file.edited(draft)
    check(file, after, block, first, last, [MARK_NODE, *ast.parse("x = 1").body])
    check_comments(text, draft, after)


@some
@often
def test_leave_out(text: str, block: int, first: int, count: int) -> None:
    file = File(text)
    block, first, last = chosen(file, block, first, count)
    chosen_ones = file.blocks()[block][first:last]
    after = file.edited(file.statements.replace(chosen_ones, []))
    all_of_it = len(chosen_ones) == len(file.blocks()[block])
    check(file, after, block, first, last, [ast.Pass()] if all_of_it else [])


@some
@often
@example("if a:\n    match a:\n        case 1: g()\n    a = 1; a = 1\n", 1, 0, 2)
def test_wrap(text: str, block: int, first: int, count: int) -> None:
    file = File(text)
    block, first, last = chosen(file, block, first, count)
    chosen_ones = file.blocks()[block][first:last]
    try:
        draft = file.statements.wrap(chosen_ones, "if mark:\n    {*body}")
    except DeclinedError:
        reject()
    after = file.edited(draft)
    inner = File(text).blocks()[block][first:last]
    check(file, after, block, first, last, [ast.If(ast.Name("mark", ast.Load()), inner, [])])
    check_comments(text, draft, after)
