"""One file in, its findings out: one for one root cause, in the order of the text, the same whenever and wherever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.analysis.project import Project
from exportlint.check import PartialError, check_file
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Finding, Mode
from exportlint.pages import MODES
from exportlint.source import SyntaxProblem, from_bytes, read
from tests.analysis.cases import FORWARD
from tests.catalogue import pages
from tests.sampling import one_in

ROOT = Path("/nowhere")


def check(text: str, mode: Mode = "non-strict", project: Project | None = None) -> list[Finding]:
    settings = combine([Layer(ROOT, {"mode": mode, "torch-version": (2, 13), "dynamic-dims": ()})], ROOT)
    return check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), project or Project(), settings)


def names(body: str) -> list[tuple[int, str]]:
    """Row in the body and rule of each finding in a `forward`."""
    source = FORWARD + "".join(f"        {line}\n" for line in body.splitlines())
    return [(finding.span.start.row - 7, finding.name) for finding in check(source)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if x.max().item() > 0: pass", [(1, "tensor-branch")]),
        ("n = x.max().item()\nif n > 0: pass", [(2, "tensor-branch")]),
        ("n = x.max().item()\nif n > 0: pass\nif n > 1: pass", [(2, "tensor-branch"), (3, "tensor-branch")]),
        ("n = x.max().item()\nz = x * n", [(1, "tensor-item")]),
        ("if x.any(): pass\nn = y.max().item()", [(1, "tensor-branch"), (2, "tensor-item")]),
        ("while x.max().item() > 0: x = x - 1", [(1, "tensor-loop")]),
        ("assert x.all() and y.any()", [(1, "tensor-assert")]),
        ("z = int(x.max().item())", [(1, "tensor-to-number")]),
        ("z = f'{x.max().item():.2f}'", [(1, "tensor-format")]),
        ("z = [1, 2][y.long().max().item()]", [(1, "tensor-index")]),
        ("if x.any() if y.dim() == 2 else y.any(): pass", [(1, "tensor-branch")]),
        ("if x.any(): raise ValueError", [(1, "tensor-raise")]),
        ("for row in x:\n    if row.any(): pass", [(2, "tensor-branch")]),
        ("for i in range(3):\n    for j in range(3):\n        x = x if x.any() else y", [(3, "tensor-branch")]),
        ("x.add_(1)\nx.add_(x.data)", [(1, "input-mutation"), (2, "tensor-data"), (2, "input-mutation")]),
    ],
)
def test_one_finding_for_one_root_cause(body: str, expected: list[tuple[int, str]]) -> None:
    assert sorted(names(body)) == sorted(expected)


def test_a_helper_that_several_modules_call_is_found_once() -> None:
    helper = "from torch import nn\n\n\ndef choose(t):\n    return t if t.any() else -t\n"
    model = "\n\nclass Model{}(nn.Module):\n    def forward(self, x):\n        return choose(x) + choose(x * 2)\n"
    (finding,) = check(helper + "".join(model.format(n) for n in range(3)))
    assert (finding.span.start.row, finding.symbol) == (5, "choose")


def test_findings_have_the_place_the_function_and_the_mode() -> None:
    source = FORWARD + "        größe = '😀'; y = x if x.sum() > 0 else y\n"
    for mode in MODES:
        (finding,) = check(source, mode)
        place = (finding.span.start.row, finding.span.start.column, finding.span.end.row, finding.span.end.column)
        assert (finding.filename, *place) == ("model.py", 8, 31, 8, 42)
        assert (finding.symbol, finding.mode, finding.severity.value) == ("Model.forward", mode, "error")


def test_findings_are_in_the_order_of_the_text() -> None:
    source = "from torch import nn\n" + "".join(
        f"class {name}(nn.Module):\n    def forward(self, x):\n        return self.f(x) if x.any() else x\n"
        f"    def f(self, x):\n        return x if x.all() else -x\n"
        for name in "CAB"
    )
    rows = [finding.span.start.row for finding in check(source)]
    assert rows == [4, 6, 9, 11, 14, 16]


@pytest.mark.parametrize("text", ["class Net(", "def f(:\n    pass\n", "x = '\n", "if 1:\npass\n", "print 'a'\n"])
def test_a_syntax_error_is_raised(text: str) -> None:
    with pytest.raises(SyntaxProblem):
        check(text)


def test_a_project_sees_the_text_that_it_is_given(tmp_path: Path) -> None:
    """An editor checks one file again and again, with other text."""
    project = Project()
    source = FORWARD + "        return x if x.{} else y\n"
    for _ in range(2):
        assert [f.name for f in check(source.format("any()"), project=project)] == ["tensor-branch"]
        assert check(source.format("dim()"), project=project) == []


@pytest.mark.parametrize("step", one_in(2, [16, 1]))
def test_what_one_file_finds_does_not_depend_on_the_files_before(tmp_path: Path, step: int) -> None:
    blocks = [block for page in pages() for block in page.blocks]
    sources = {f"block{i}.py": block.source for i, block in enumerate(blocks[::step])}
    for name, source in sources.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)

    def found(project: Project | None, name: str) -> list[Finding]:
        try:
            return check_file(read(tmp_path / name), project or Project(), settings)
        except SyntaxProblem:
            return []

    alone = {name: found(None, name) for name in sources}
    shared = Project()
    assert {name: found(shared, name) for name in reversed(sources)} == alone
    assert sum(map(len, alone.values())) > len(sources) / 3


@pytest.mark.thorough
def test_the_output_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    for i, block in enumerate(b for page in pages() for b in page.blocks):
        (tmp_path / f"block{i}.py").write_text(block.source, encoding="utf-8")
    command = [sys.executable, "-m", "exportlint", "check", "--isolated", "--output-format", "json", "."]
    outputs = {
        subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=False
        ).stdout
        for seed in ("0", "1", "2")
    }
    (output,) = outputs
    assert output.count(b'"code"') > 100


def test_a_rule_that_fails_takes_no_finding_of_another_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails on two facts, and is said to have failed once."""

    def fail(*_: object) -> bool:
        raise KeyError("none")

    monkeypatch.setattr("exportlint.rules.tensor_branch._is_size", fail)
    body = ["if x.any(): pass", "while y.any(): y = y - 1", "x = x if y.all() else y", "z = int(x.max())"]
    with pytest.raises(PartialError) as caught:
        check(FORWARD + "".join(f"        {line}\n" for line in body))
    assert [f.name for f in caught.value.findings] == ["tensor-loop", "tensor-to-number"]
    assert caught.value.crash.what == "EXP101 tensor-branch failed"
    assert isinstance(caught.value.crash.cause, KeyError)
