"""Imports that a fix leaves unused go with it, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.fixes.edit.drafts import Draft, applied
from exportlint.fixes.edit.imports import TopLevelImports
from exportlint.fixes.edit.text import Text
from exportlint.fixes.edit.tree import Tree
from exportlint.source import from_text, parse

BODY = "\n\ny = old.f(x)\n"


def after(text: str, path: str = "x.py") -> str:
    """The text once `old.f` is `new` and its imports are left out."""
    source = Text(from_text(text, Path(path)))
    start = source.text.index("old.f")
    drafts = [Draft(start, start + len("old.f"), "new")]
    tree = Tree(parse(from_text(text, Path(path))))
    return applied(source.text, sorted([*drafts, *TopLevelImports(source, tree).unused_after(drafts)]))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("import old\nimport torch\n", "import torch\n"),
        ("import old\n\nimport torch\n", "import torch\n"),
        ("import torch\nimport old\n", "import torch\n"),
        ("import a\n\nimport old\n\nimport b\n", "import a\n\nimport b\n"),
        ("import other as old, torch\n", "import torch\n"),
        ("import torch, old\n", "import torch\n"),
        ("from a import b, old\n", "from a import b\n"),
        ("from a import (\n    old,\n    b,  # so\n)\n", None),
        ("from a import (\n    old,\n    b,\n)\n", "from a import (\n    b,\n)\n"),
        ("import old  # noqa\n", None),
        ("import old as old\n", None),
        ("import torch; import old\n", None),
        ("import old\n__all__ = ['old']\n", None),
        ("import old\nz: 'old.T'\n", None),
        ("import old\nz = old\n", None),
        ("try:\n    import old\nexcept ImportError:\n    pass\n", None),
        ("if a:\n    import old\n", None),
    ],
)
def test_unused(head: str, expected: str | None) -> None:
    kept = head if expected is None else expected
    assert after(head + BODY) == kept + BODY.replace("old.f", "new")


def test_an_import_that_was_unused_before_stays() -> None:
    assert after("import unused\nimport old\n" + BODY).startswith("import unused\n\n")
    assert after("import f\nimport old\n" + BODY).startswith("import f\n\n")  # `f` is an attribute


def test_a_package_says_what_it_has() -> None:
    assert "import old" in after("import old\n" + BODY, "__init__.py")
