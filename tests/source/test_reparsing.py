"""An edited text is parsed in part, and the tree is that of all of it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.source.parsing import tree_of
from exportlint.source.reparsing import Reparse, reparse

PIECES = (
    "import torch\n", "x = 1\n", "x = 1; y = 2\n", "\n", "# text\n", "@decorator\n", "@decorator\ndef f(): pass\n",
    "class A:\n    def f(self, x):\n        return x\n", "if x:\n    y = 1\n", "else:\n    y = 2\n", "    z = 3\n",
    '"""text\n', "z = (1,\n", "     2)\n", "x = 1 \\\n", "+ 2\n", "\\\n", "x = f'{y!r}'\n",
    "async def g(): await f()\n", "match x:\n    case [1, *_]: pass\n", "\f\n", "x = 1\r\n", "\r\n", "y", ";",
    "ä = '🙂'\n", "try: pass\n", "finally: pass\n", "#", "lambda: (yield)\n",
    "def f(a, /, b=1, *c, d, **e) -> None: ...\n", "x = 1\r",
)  # fmt: skip

texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def dump(tree: ast.Module) -> str:
    return ast.dump(tree, include_attributes=True)


def parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def problem(text: str) -> SyntaxError:
    with pytest.raises(SyntaxError) as raised:
        ast.parse(text)
    return raised.value


def said(error: SyntaxError) -> tuple[object, ...]:
    return type(error), error.msg, error.lineno, error.offset


@given(texts, texts, texts, texts)
def test_gives_the_tree_of_the_whole_text(before: str, old: str, new: str, after: str) -> None:
    first, second = before + old + after, before + new + after
    tree, whole = parsed(first), parsed(second)
    if tree is None:
        return
    untouched = dump(tree)
    found: object = None
    try:
        found = reparse(second, first, tree)
    except SyntaxError as error:
        found = said(error)
    if isinstance(found, tuple):
        assert dump(tree) == untouched
        assert found == said(problem(second))
    elif not isinstance(found, Reparse):
        assert found is None
        assert dump(tree) == untouched
    else:
        assert whole is not None, "the text does not parse"
        assert dump(found.tree) == dump(whole)


def test_keeps_what_an_edit_does_not_touch() -> None:
    classes = [f"class Net{i}(nn.Module):\n    def forward(self, x):\n        return x + {i}\n\n\n" for i in range(20)]
    first = "from torch import nn\n\n\n" + "".join(classes)
    second = first.replace("x + 7\n", "x.item()\n")
    tree = ast.parse(first)
    others = [node for node in tree.body if getattr(node, "name", "") != "Net7"]
    found = reparse(second, first, tree)
    assert found is not None
    assert found.kept == frozenset(others)
    assert dump(found.tree) == dump(ast.parse(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("if x:\n    y = 1\nz = 2\n", "if x:\n    y = 1\nelse:\n    y = 3\nz = 2\n"),
        ("x = 1\ny = 2\n", "x = 1 \\\n+ 2\ny = 2\n"),
        ("x = 1\ny = 2\nz = 3\n", 'x = 1\n"""\ny = 2\nz = 3\n'),
        ("x = 1 \\\n; y = 1\nz = 2\n", "x = 2\n; y = 1\nz = 2\n"),
        ("x = 1 \\\n\ny = 2\n", "x = 1 \\\n+ 4\ny = 2\n"),
    ],
    ids=["else", "backslash", "quotes", "semicolon", "after a backslash"],
)
def test_parses_all_where_statements_depend_on_each_other(first: str, second: str) -> None:
    found = reparse(second, first, ast.parse(first))
    assert found is None or dump(found.tree) == dump(ast.parse(second))


CLASSES = [f"class Net{i}(nn.Module):\n    def forward(self, x):\n        return x + {i}\n\n\n" for i in range(20)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + 15", "x.item("),
        ("x + 15", "'"),
        ("x + 15", "{x]"),
        ("x + 15", "if x:"),
        ("def forward(self, x):\n        return x + 15", "else:\n        pass"),
        ("x + 15", '"""'),
        ("x + 15", "(\n  \n  1"),
    ],
)
def test_says_what_is_wrong_with_the_whole_text_and_parses_what_is_below(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []

    def noted(text: str) -> ast.Module:
        rows.append(len(text.split()))
        return tree_of(text)

    monkeypatch.setattr("exportlint.source.reparsing.tree_of", noted)
    first = "".join(CLASSES)
    second = first.replace(old, new)
    with pytest.raises(SyntaxError) as raised:
        reparse(second, first, ast.parse(first))
    assert said(raised.value) == said(problem(second))
    assert sum(rows) < len(first.split()) / 2
