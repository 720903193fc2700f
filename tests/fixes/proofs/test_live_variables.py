"""Which variables code binds, and which are still needed once a statement has run."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from exportlint.fixes.edit.tree import Tree, bound
from exportlint.fixes.proofs.live_variables import needed, needed_after


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a = b", ["a"]),
        ("a, (b, *c) = d", ["a", "b", "c"]),
        ("a.b = c[d] = 1", []),
        ("import a.b, c as d\nfrom e import f as g", ["a", "d", "g"]),
        ("def f(a):\n    b = 1\nclass C:\n    d = 1", ["f", "C"]),
        ("f = lambda a: a", ["f"]),
        ("a = [b for b in (c := d)]", ["a", "c"]),
        ("try:\n    a = 1\nexcept E as e:\n    del b", ["a", "e", "b"]),
        ("match a:\n    case [b, *c] | {'d': _, **e} as f:\n        pass", ["f", "b", "c", "e"]),
        ("with a as b, c as (d, e):\n    pass", ["b", "d", "e"]),
        ("for a in b:\n    c += 1\nelse:\n    d: int = 1", ["a", "c", "d"]),
    ],
)
def test_what_code_binds(code: str, expected: list[str]) -> None:
    assert bound(ast.parse(code).body) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a = b\nc = a", ["b"]),
        ("if a:\n    b = 1\nc = b", ["a", "b"]),
        ("if a:\n    b = 1\nelse:\n    b = 2\nc = b", ["a"]),
        ("for a in b:\n    c = a\nd = c", ["b", "c"]),
        ("with suppress(E):\n    a = 1\nb = a", ["suppress", "E", "a"]),
        ("with torch.no_grad():\n    a = 1\nb = a", ["torch"]),
        ("a = [b for b in c if d]", ["c", "d"]),
        ("f = lambda a, b=c: a + b + d", ["c", "d"]),
        ("a += 1", ["a"]),
    ],
)
def test_what_code_needs(code: str, expected: list[str]) -> None:
    assert needed(ast.parse(code).body) == expected


@pytest.mark.parametrize(
    ("code", "live"),
    [
        ("here\nreturn a", True),
        ("here\na = 1\nreturn a", False),
        ("here\nif b:\n    a = 1\nreturn a", True),
        ("return a\nhere", False),
        ("for i in b:\n    c = a\n    here\n    a = 1", False),
        ("for i in b:\n    c = a\n    here", True),
        ("for i in b:\n    c = a\n    here\n    if c:\n        continue\n    a = 1", True),
        ("for i in b:\n    here\n    if c:\n        break\n    a = 1\nreturn a", True),
        ("for i in b:\n    c = a\n    for j in b:\n        here", True),
        ("for i in b:\n    here\nelse:\n    c = a", True),
        ("while a:\n    here", True),
        ("try:\n    here\n    a = 1\nexcept E:\n    pass\nreturn a", True),
        ("try:\n    here\nexcept E:\n    c = a", True),
        ("try:\n    here\nexcept E:\n    pass\nelse:\n    c = a", True),
        ("try:\n    pass\nexcept E:\n    here\nfinally:\n    c = a", True),
        ("with suppress(E):\n    here\n    a = 1\nreturn a", True),
        ("with torch.no_grad():\n    here\n    a = 1\nreturn a", False),
        ("f = lambda: a\nhere", True),
        ("f = lambda a: a\nhere", False),
        ("def f():\n    return a\nhere", True),
        ("def f():\n    a = 1\n    return a\nhere", False),
        ("g = (a for b in c)\nhere", True),
        ("a = 1\nhere\nreturn locals()", True),
        ("global a\nhere", True),
        ("def f():\n    nonlocal a\n    a = 1\nhere", True),
        ("here\nclass C:\n    b = a", True),
    ],
)
def test_what_is_needed_behind_a_statement(code: str, live: bool) -> None:
    root = ast.parse(f"def function():\n{indent(code, '    ')}\n")
    here = next(n for n in ast.walk(root) if isinstance(n, ast.Expr) and ast.unparse(n) == "here")
    assert ("a" in needed_after(Tree(root), here)) is live
