"""An edited text is parsed in part, and the tree is that of all of it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.source.reparsing import reparse

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


@given(texts, texts, texts, texts)
def test_gives_the_tree_of_the_whole_text(before: str, old: str, new: str, after: str) -> None:
    first, second = before + old + after, before + new + after
    tree, whole = parsed(first), parsed(second)
    if tree is None:
        return
    untouched = dump(tree)
    found = reparse(second, first, tree)
    if found is None:
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
