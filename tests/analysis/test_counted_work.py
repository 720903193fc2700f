"""What is not worked out twice, or not at all: asserted in functions that are run and files that are read."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from exportlint import check as checking
from exportlint.analysis import analyze, custom_op_definitions
from exportlint.analysis.domain.values import Value
from exportlint.analysis.eval import function_calls
from exportlint.analysis.eval.engine import Options
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.probe import Probe
from exportlint.analysis.facts import Fact
from exportlint.analysis.project import Project
from exportlint.analysis.results import Analysis
from exportlint.check import check_file
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Finding
from exportlint.source import from_bytes, read
from exportlint.syntax.definitions import Module

ROOT = Path("/nowhere")
SERIALIZES = """
from torch import nn
from settings import loaded


class Config:
    def as_dict(self):
        return {"name": self.name}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        found = []
        for value in loaded():
            if isinstance(value, Config):
                value = value.as_dict()
            found.append(value)
        self.found = found

    def forward(self, x):
        return x + len(self.found)
"""
PRINTS = """
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        print(x.shape)
        return x
"""


def check(text: str, **settings: object) -> list[Finding]:
    layer = Layer(ROOT, {"mode": "non-strict", "torch-version": (2, 13), **settings})
    return check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), Project(), combine([layer], ROOT))


def test_what_a_test_finds_in_a_loop_is_one_object(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: Counter[str] = Counter()
    body = function_calls._body

    def counted(inner: Frame, node: ast.FunctionDef) -> Value:
        runs[inner.symbol] += 1
        return body(inner, node)

    monkeypatch.setattr(function_calls, "_body", counted)
    check(SERIALIZES)
    assert runs["Config.as_dict"] == 1


@pytest.mark.parametrize(("least", "probes"), [("info", 1), ("warning", 0)])
def test_only_fixes_of_what_is_shown_are_worked_out(least: str, probes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Module] = []

    def counted(module: Module, project: Project, options: Options, known: Analysis, facts: Iterable[Fact]) -> Probe:
        asked.append(module)
        return analyze.probe(module, project, options, known, facts)

    monkeypatch.setattr(checking, "probe", counted)
    findings = check(PRINTS, **{"min-severity": least})
    assert [finding.name for finding in findings] == ["side-effect"]
    assert len(asked) == probes


def test_a_file_is_searched_once_for_custom_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = "import torch\nimport operators\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
    call += "        return torch.ops.mine.twice(x)\n"
    (tmp_path / "operators.py").write_text("import torch.library\n")
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(call)
    searched: Counter[str] = Counter()
    searching = custom_op_definitions._read
    monkeypatch.setattr(
        custom_op_definitions, "_read", lambda module: searched.update([module.path.name]) or searching(module)
    )
    project = Project()
    settings = combine([Layer(tmp_path, {"mode": "non-strict", "torch-version": (2, 13)})], tmp_path)
    for name in ("one.py", "two.py"):
        check_file(read(tmp_path / name), project, settings)
    assert searched == {"one.py": 1, "two.py": 1, "operators.py": 1}
