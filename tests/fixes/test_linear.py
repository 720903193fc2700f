"""What fixes cost does not grow faster than their file: asserted in what is visited, evaluated and tried."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

import pytest

from exportlint.analysis.domain.values import Value
from exportlint.analysis.eval.frame import Frame
from exportlint.fixes.control_flow.early_returns import MAX_EXITS
from exportlint.fixes.edit import delimiters
from exportlint.fixes.edit.delimiters import Delimiter
from exportlint.fixes.edit.text import Text, Token
from exportlint.fixes.edit.wrapping import wrapped
from exportlint.source import from_bytes
from tests.fixes.checking import ROOT, check
from tests.sampling import one_in

HEAD = "import torch\nfrom torch import nn\n\n\n"
FORWARD = HEAD + "class M(nn.Module):\n    def forward(self, x):\n"
CLASS = "class M{}(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n\n\n"


def method(line: str) -> Callable[[int], str]:
    """A model with a line again and again in `forward`."""
    return lambda n: FORWARD + "".join(f"        {line.format(i)}\n" for i in range(n)) + "        return x * 2\n"


FAMILIES: dict[str, Callable[[int], str]] = {
    "classes": lambda n: HEAD + "".join(CLASS.format(i) for i in range(n)),
    "branches": method("if x.max() > {0}: x = x + {0}"),
    "attributes": method("self.a{0} = x + {0}"),
    "counters": method("self.a{0} = self.a{0} + 1"),
    "numbers": method("y{0} = int(x[{0}])"),
    "prints": method("print(x, {0})"),
    "conditions": method("y{0} = x.sum() > 0; x = x * 2 if y{0} else x"),
}


def visited(text: str, fixes: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many children of nodes are looked at while a file is linted and as many fixes or more are made."""
    count = 0
    children = ast.iter_child_nodes

    def counted(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal count
        for child in children(node):
            count += 1
            yield child

    with monkeypatch.context() as patch:
        patch.setattr(ast, "iter_child_nodes", counted)
        found = check(text)
    assert sum(finding.fix is not None for finding in found) >= fixes
    return count


@pytest.mark.parametrize("family", one_in(20, FAMILIES))
def test_fixes_of_a_file_are_linear(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FAMILIES[family]
    visited(text(2), 2, monkeypatch)  # what is the same for all files
    assert visited(text(120), 120, monkeypatch) <= 2.2 * visited(text(60), 60, monkeypatch)


def evaluated(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many expressions are evaluated while a file is linted and its fix is made."""
    count = 0
    evaluate = Frame.evaluate

    def counted(self: Frame, node: ast.expr) -> Value:
        nonlocal count
        count += 1
        return evaluate(self, node)

    with monkeypatch.context() as patch:
        patch.setattr(Frame, "evaluate", counted)
        found = check(text)
    assert any(finding.fix is not None for finding in found)
    return count


def test_a_fix_beside_a_chain_of_calls_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    def text(n: int) -> str:
        chain = "        y = x" + ".relu()" * n + "\n"
        return FORWARD + chain + "        z = x\n        if x.sum() > 0: z = -x\n        return y + z\n"

    evaluated(text(2), monkeypatch)
    assert evaluated(text(60), monkeypatch) <= 2.2 * evaluated(text(30), monkeypatch)


@pytest.mark.thorough
def test_functions_with_many_early_returns_are_fixed_up_to_a_limit() -> None:
    def fixes(n: int) -> list[bool]:
        text = method("if x.max() > {0}: return x + {0}")(n)
        return [finding.fix is not None for finding in check(text)]

    assert fixes(20) == [True] * 20
    assert fixes(MAX_EXITS + 8) == [False] * 8 + [True] * MAX_EXITS


def wrappings(depth: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many ways to break a part of a line are tried, for a line of brackets within brackets."""
    count = 0
    find = delimiters.delimiters

    def counted(line: Sequence[Token]) -> dict[int, Delimiter]:
        nonlocal count
        count += 1
        return find(line)

    line = "x = " + "where(condition, value + 1, " * depth + "y" + ")" * depth + "\n"
    with monkeypatch.context() as patch:
        patch.setattr("exportlint.fixes.edit.wrapping.delimiters", counted)
        text = Text(from_bytes(line.encode(), ROOT / "model.py", "model.py"))
        assert list(wrapped(text, [1], 88, "    "))
    return count


def test_breaking_lines_of_nested_brackets_is_not_exponential(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrappings(48, monkeypatch) <= 4 * wrappings(24, monkeypatch)
