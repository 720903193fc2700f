"""Arguments, entries, bases and decorators come and go in the layout of what is around them."""

from __future__ import annotations

import libcst as cst
import pytest

from exportlint.fixes.edit import arguments
from exportlint.fixes.edit.imports import import_from, with_names
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.edit.template import as_tuple, expression, statement

NEW = expression("new")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(k=new)"),
        ("f(a)", "f(a, k=new)"),
        ("f(a, )", "f(a, k=new, )"),
        ("f(x for x in y)", "f((x for x in y), k=new)"),
        ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    k=new,\n)"),
        ("f(\n    a,\n    b\n)", "f(\n    a,\n    b,\n    k=new\n)"),
        ("f(\n    a,  # one\n    b,  # two\n)", "f(\n    a,  # one\n    b,  # two\n    k=new,\n)"),
        ("f(a,\n  b)", "f(a,\n  b,\n  k=new)"),
        ("f(\n    a, b\n)", "f(\n    a, b, k=new\n)"),
        ("f(a  # one\n)", "f(a,  # one\nk=new\n)"),
    ],
)
def test_one_more_argument(before: str, after: str) -> None:
    assert source(arguments.with_argument(cst.parse_expression(before), NEW, "k")) == after


@pytest.mark.parametrize(
    ("before", "index", "after"),
    [
        ("f(a)", 0, "f()"),
        ("f(a, b)", 0, "f(b)"),
        ("f(a, b)", 1, "f(a)"),
        ("f(a, b,)", 1, "f(a,)"),
        ("f(\n    a,\n    b,\n)", 1, "f(\n    a,\n)"),
        ("f(\n    a,\n    b,\n    c\n)", 1, "f(\n    a,\n    c\n)"),
        ("f(\n    a,  # one\n    b,\n)", 1, "f(\n    a,  # one\n)"),
        ("f(\n    a,\n    b,  # two\n)", 1, "f(\n    a,  # two\n)"),
        ("f(\n    a,  # one\n    b,\n)", 0, "f(  # one\n    b,\n)"),
        ("f(\n    a,\n    b,  # two\n    c,\n)", 1, "f(\n    a,  # two\n    c,\n)"),
    ],
)
def test_one_argument_less(before: str, index: int, after: str) -> None:
    found = source(arguments.without_argument(cst.parse_expression(before), index))
    assert found == after
    assert found.count("#") == before.count("#")


def test_an_argument_behind_another() -> None:
    call = cst.parse_expression("f(\n    a,  # one\n    b\n)")
    assert source(arguments.with_argument_behind(call, 0, NEW)) == "f(\n    a, new,  # one\n    b\n)"


@pytest.mark.parametrize(
    ("before", "after"), [("{}", "{1: new}"), ("{a: b}", "{a: b, 1: new}"), ("{a: b,}", "{a: b, 1: new,}")]
)
def test_one_more_entry(before: str, after: str) -> None:
    entries = [(expression("1"), NEW)]
    assert source(arguments.with_entries(cst.parse_expression(before), entries)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [("[a]", "(a,)"), ("[a, b]", "(a, b)"), ("[a,]", "(a,)"), ("[]", "()"), ("[\n  a,  # one\n]", "(\n  a,  # one\n)")],
)
def test_a_list_as_a_tuple(before: str, after: str) -> None:
    assert source(as_tuple(cst.parse_expression(before))) == after


@pytest.mark.parametrize("head", ["class A:", "class A():", "class A :"])
def test_a_base(head: str) -> None:
    found = cst.Module([arguments.with_base(statement(f"{head}\n    pass  # so"), "torch.nn.Module")]).code
    assert found.replace(" :", ":") == "class A(torch.nn.Module):\n    pass  # so\n"


@pytest.mark.parametrize(
    ("index", "expected"),
    [(0, "# above\n# between\n@b\ndef f(): pass\n"), (1, "# above\n@a\n# between\ndef f(): pass\n")],
)
def test_a_decorator_less(index: int, expected: str) -> None:
    (function,) = cst.parse_module("pass\n# above\n@a\n# between\n@b\ndef f(): pass\n").body[1:]
    assert cst.Module([arguments.without_decorator(function, index)]).code == expected


def test_imports() -> None:
    made = import_from("..a.b", [("x", None), ("y", "z")])
    assert cst.Module([made]).code == "from ..a.b import x, y as z\n"  # type: ignore[list-item]
    line = statement("from a import (\n    x,  # one\n    y as z,\n)")
    renamed = with_names(line, {"x": ("v", None)})
    assert cst.Module([renamed]).code == "from a import (\n    v,  # one\n    y as z,\n)\n"  # type: ignore[list-item]
