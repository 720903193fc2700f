from __future__ import annotations

import ast
import gc
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.source import SourceFile, SyntaxProblem, from_bytes, from_text, gc_paused, parse
from tests.source.texts import texts

PY311 = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 can parse it")


def source(text: str) -> SourceFile:
    return from_text(text, Path("net.py"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "\fx = 1\r\ny = 2\rz = 3",
        "\ufeffx = 1",
        "# coding: latin-1\nx = 'é'",
        "# coding: klingon\nx = 1",
        "x = '\\d' is 1",
        "+".join(["1"] * 1_500),
    ],
)
def test_parses(text: str) -> None:
    assert isinstance(parse(source(text)), ast.Module)


def test_bytes_in_another_encoding() -> None:
    tree = parse(from_bytes(b"# coding: latin-1\nx = '\xe9'\n", Path("net.py")))
    assert ast.unparse(tree) == "x = 'é'"


@pytest.mark.parametrize(
    ("text", "row", "column", "message"),
    [
        ("print 'x'", 1, 1, "Missing parentheses in call to 'print'"),
        ("é😀 = = 1", 1, 2, "invalid character"),
        ("é = = 1", 1, 5, "invalid syntax"),
        ("a\r\rb = = 1", 3, 5, "invalid syntax"),
        ("\f\nx = '\u2028' )", 2, 9, "unmatched ')'"),
        ("def f():\n", 1, 9, "expected an indented block"),
        ("x = '''\nabc", 1, 5, "unterminated triple-quoted string"),
        ("x = (\n1,", 1, 5, "'(' was never closed"),
        ("if x:\n\ty\n        z", 3, None, "inconsistent use of tabs"),
        ("x = 1\\", 1, None, "unexpected EOF"),
        ("x = 1\0", 1, 6, "U+0000 is not allowed"),
        ("x = 1\ny = '\udc00'", 2, 6, "U+DC00 is not allowed"),
        ("(" * 3_000 + ")" * 3_000, 1, 201, "too many nested parentheses"),
        pytest.param("+".join(["1"] * 50_000), 1, 1, "nested too deeply", marks=PY311),
        ("-" * 100_000 + "1", 1, 1, "nested too deeply"),
        pytest.param("x" + ".y" * 100_000, 1, 1, "nested too deeply", marks=PY311),
        ("if a: pass\n" + "elif b: pass\n" * 9_000, 1, 1, "nested too deeply"),
        ("".join(" " * depth + "if x:\n" for depth in range(150)), 101, None, "too many levels of indentation"),
    ],
)
def test_syntax_problems(text: str, row: int, column: int | None, message: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse(source(text))
    assert caught.value.message.startswith(message)
    assert (caught.value.row, caught.value.column) == (row, column or caught.value.column)
    assert "\n" not in caught.value.message


@given(texts() | st.text(alphabet="ab=:'\"\\\r\n\f()[]{}#f \0é"))
def test_any_text_parses_or_has_a_problem_inside_of_it(text: str) -> None:
    file = source(text)
    problem = None
    try:
        parse(file)
    except SyntaxProblem as raised:
        problem = raised
    if problem is not None:
        assert 1 <= problem.row <= len(file.lines)
        assert 1 <= problem.column <= len(file.lines.line(problem.row)) + 1


@pytest.mark.filterwarnings("error")
def test_warnings_about_the_code_are_neither_shown_nor_errors() -> None:
    with warnings.catch_warnings(record=True) as shown:
        parse(source("x = '\\d'; y = 1if x else 0"))
    assert shown == []


@pytest.mark.parametrize("text", ["x = 1", "x = = 1"])
@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(text: str, enabled: bool) -> None:
    try:
        if not enabled:
            gc.disable()
        with suppress(SyntaxProblem):
            parse(source(text))
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_the_garbage_collector_runs_again_after_overlapping_pauses() -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with gc_paused():
            inside.set()
            leave.wait(10)

    with gc_paused():
        assert not gc.isenabled()
        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait(10)
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_one_tree_is_built_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython 3.11 counts the depth of trees for all threads together, and fails where two are built at once."""
    inside = most = 0
    build = ast.parse

    def noting(text: str, filename: str) -> ast.Module:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        threading.Event().wait(0.01)  # another thread may run
        inside -= 1
        return build(text, filename)

    monkeypatch.setattr(ast, "parse", noting)
    threads = [threading.Thread(target=parse, args=(source("x = 1\n"),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_tree_that_somebody_else_disturbed_is_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    build, failures = ast.parse, [SystemError("AST constructor recursion depth mismatch (before=18, after=10)")]

    def disturbed(text: str, filename: str) -> ast.Module:
        if failures:
            raise failures.pop()
        return build(text, filename)

    monkeypatch.setattr(ast, "parse", disturbed)
    assert ast.dump(parse(source("x = 1\n"))) == ast.dump(build("x = 1\n"))
