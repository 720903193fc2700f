"""A fix leaves no line longer than those of the file, or than its formatter allows, and wraps as Black does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.line_length import detect_line_length
from exportlint.config.settings import combine
from exportlint.findings import Applicability
from exportlint.fixer import fix
from exportlint.fixes.edit.drafts import Draft, applied, composed
from exportlint.fixes.edit.text import Text, width
from exportlint.fixes.edit.wrapping import wrapped
from exportlint.linter import Task
from exportlint.source import comments, from_text
from tests.catalogue import pages
from tests.fixes.test_variants import PROGRAMS, Program
from tests.sampling import one_in

BROKEN = """
x = torch.where(first, second, third, more)
--
x = torch.where(
    first, second, third, more
)
==
x = torch.where(first_thing, second_thing, third_thing)
--
x = torch.where(
    first_thing,
    second_thing,
    third_thing,
)
==
x = aaaaaaaaaaaaa + bbbbbbbbbbbbbbb + ccccccccc
--
x = (
    aaaaaaaaaaaaa
    + bbbbbbbbbbbbbbb
    + ccccccccc
)
==
return aaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbb
--
return (
    aaaaaaaaaaaaaaaaaa,
    bbbbbbbbbbbbbbbbbbbbbbb,
)
==
if aaaaaaaaaaaaaaaaa and bbbbbbbbbbbbbb and cc:
    pass
--
if (
    aaaaaaaaaaaaaaaaa
    and bbbbbbbbbbbbbb
    and cc
):
    pass
==
x = [function(argument) for argument in xs if y]
--
x = [
    function(argument)
    for argument in xs
    if y
]
==
x = f(aaaaaa, lambda a, b: aaaaaaaaa if b else c)
--
x = f(
    aaaaaa,
    lambda a, b: aaaaaaaaa if b else c,
)
==
def function(self, first, second=None, *more):
    pass
--
def function(
    self, first, second=None, *more
):
    pass
==
x = torch.stack(xs).index_select(0, i).squeeze(0)
--
x = (
    torch.stack(xs)
    .index_select(0, i)
    .squeeze(0)
)
==
from package.module import one_thing, two_things
--
from package.module import (
    one_thing,
    two_things,
)
==
function(first_argument, second_argument)  # why
--
function(
    first_argument, second_argument
)  # why
==
function(first_argument, second)  # noqa: E501
--
function(first_argument, second)  # noqa: E501
==
x = 'a string that is longer than the line is wide'
--
x = 'a string that is longer than the line is wide'
==
a = 1; b = function(first_argument, second, third)
--
a = 1; b = function(
    first_argument, second, third
)
==
x = '''
''' + function(first_argument, second, third)
--
x = '''
''' + function(first_argument, second, third)
==
f(  # why
    first_argument, second_argument, third_one,
)
--
f(  # why
    first_argument,
    second_argument,
    third_one,
)
==
f(  # why
    first_argument, second_argument, third_one
)
--
f(  # why
    first_argument,
    second_argument,
    third_one,
)
==
assert aaaaaaaaaaaaaaaaaaa, message(bbbbbbbbbbbbbbb)
--
assert aaaaaaaaaaaaaaaaaaa, message(
    bbbbbbbbbbbbbbb
)
"""
"""Lines of at most 40 columns: before, and as Black has them. What a tool reads at the end of a line stays there."""


def laid_out(text: str, limit: int, unit: str = "    ") -> str:
    source = Text(from_text(text, Path("x.py")))
    return applied(source.text, list(wrapped(source, range(1, len(source.lines) + 1), limit, unit)))


def widest(text: str) -> int:
    return max(map(width, text.split("\n")))


@pytest.mark.parametrize("program", one_in(18, PROGRAMS), ids=lambda program: program.name)
def test_no_fix_leaves_a_longer_line(program: Program) -> None:
    assert widest(program.fixed(program.text)) <= max(88, widest(program.text))


@pytest.mark.parametrize("limit", one_in(2, [40, 60]))
def test_what_is_wrapped_stays_the_same_program(limit: int) -> None:
    for page in pages():
        for block in page.blocks:
            if block.kind in {"bad", "fixed", "ok"}:
                after = laid_out(block.source, limit)
                assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(block.source))
                assert [c.text for c in comments(after)] == [c.text for c in comments(block.source)]
                assert widest(after) <= max(limit, widest(block.source))


@pytest.mark.parametrize("case", BROKEN.strip().split("\n==\n"))
def test_where_a_line_is_broken(case: str) -> None:
    before, after = case.split("\n--\n")
    assert laid_out(before, 40) == after


def test_tabs_count_as_four_columns() -> None:
    assert laid_out("if a:\n\tx = function(first, second)\n", 30, "\t") == (
        "if a:\n\tx = function(\n\t\tfirst, second\n\t)\n"
    )


def test_two_fixes_of_one_line(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x: torch.Tensor, y: torch.Tensor):\n"
        "        a_name_that_is_long, another_name = x[: int(len(x) / 2)], y[: int(len(y) / 2)]\n"
        "        return a_name_that_is_long, another_name\n"
    )
    layer = Layer(tmp_path, {"torch-version": (2, 13)})
    task = Task(tmp_path / "case.py", combine([layer], tmp_path), data=text.encode())
    (fixed,) = fix([task], lambda _: Applicability.UNSAFE).tasks
    assert "shape[0]" in fixed.read().text
    assert widest(fixed.read().text) <= 88


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 88),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 100"}, 100),
        ({"pyproject.toml": "[tool.black]\nline-length = 79"}, 79),
        ({"pyproject.toml": "[tool.black]\nline-length = 79\n[tool.ruff]\nline-length = 100"}, 100),
        ({"ruff.toml": "line-length = 120", "pyproject.toml": "[tool.ruff]\nline-length = 100"}, 120),
        ({"../pyproject.toml": "[tool.ruff]\nline-length = 100"}, 100),
        ({"pyproject.toml": "[tool.ruff\nline-length = 100"}, 88),
        ({"pyproject.toml": "[tool]\nruff = 'line'"}, 88),
        ({"pyproject.toml": "[tool.ruff]\nline-length = true"}, 88),
    ],
)
def test_what_a_formatter_is_told(files: dict[str, str], expected: int, tmp_path: Path) -> None:
    root = tmp_path / "inner"
    root.mkdir()
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    assert detect_line_length(root) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], [Draft(1, 2, "x")]),
        ([Draft(1, 2, "xyz")], []),
        ([Draft(1, 2, "xyz")], [Draft(2, 3, "!")]),
        ([Draft(1, 2, "xyz")], [Draft(0, 2, "!"), Draft(3, 5, "?")]),
        ([Draft(0, 1, ""), Draft(3, 3, "xy")], [Draft(0, 0, "!"), Draft(4, 5, "?")]),
        ([Draft(0, 2, ""), Draft(4, 6, "")], [Draft(1, 3, "!")]),
        ([Draft(0, 0, "ab"), Draft(2, 2, "cd"), Draft(6, 6, "ef")], [Draft(1, 5, "-"), Draft(10, 10, "+")]),
    ],
)
def test_edits_of_edits(first: list[Draft], second: list[Draft]) -> None:
    text = "012345"
    assert applied(text, composed(text, first, second)) == applied(applied(text, first), second)
