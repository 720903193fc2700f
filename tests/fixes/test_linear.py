"""What fixes ask of a file does not grow with its length: asserted in nodes that are visited."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from exportlint.analysis.project import Project
from exportlint.check import check_file
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.source import from_bytes

ROOT = Path("/nowhere")
SETTINGS = combine([Layer(ROOT, {"torch-version": (2, 13)})], ROOT)
CLASS = "class M{}(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n\n\n"


def visited(classes: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many children of nodes are looked at while as many classes are linted and fixed."""
    count = 0
    children = ast.iter_child_nodes

    def counted(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal count
        for child in children(node):
            count += 1
            yield child

    text = "import torch\nfrom torch import nn\n\n\n" + "".join(CLASS.format(n) for n in range(classes))
    with monkeypatch.context() as patch:
        patch.setattr(ast, "iter_child_nodes", counted)
        found = check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), Project(), SETTINGS)
    assert sum(finding.fix is not None for finding in found) == classes
    return count


def test_fixes_of_many_classes_are_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    visited(2, monkeypatch)  # what is the same for all files
    assert visited(120, monkeypatch) <= 2.1 * visited(60, monkeypatch)
