"""What is reported of a model depends on the version of torch, where torch's behavior does."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Mode, TorchVersion
from exportlint.linter import Task, lint

CASES: list[tuple[str, Mode, dict[TorchVersion, str]]] = [
    # (statements of forward, mode, what EXPnnn with which severity for each version)
    ('torch._check(x.shape[0] > 1, lambda: "few")', "strict", {(2, 9): "EXP613 error", (2, 13): ""}),
    ('torch._check(x.shape[0] > 1, "few")', "strict", {(2, 9): "", (2, 13): "EXP613 error", (2, 15): ""}),
    ("torch._check(x.shape[0] > 1, self.text)", "strict", {(2, 9): "EXP613 error", (2, 15): "EXP613 error"}),
    ("heapq.heapify([2, 1])", "strict", {(2, 13): "EXP606 error", (2, 15): ""}),
    ("y = pow(x, 2)", "strict", {(2, 13): "EXP606 error", (2, 15): ""}),
    ("y = pow(x, 2, None)", "strict", {(2, 13): "EXP606 error", (2, 15): "EXP606 error"}),
    ("random.seed(3)", "strict", {(2, 13): "EXP502 error", (2, 15): "EXP502 info"}),
    ("random.getstate()", "strict", {(2, 13): "EXP502 error", (2, 15): "EXP502 error"}),
    ("y = x.clone()\ny[x.sum().long()] = 0.0", "non-strict", {(2, 13): "EXP106 error", (2, 15): ""}),
    ("y = x.clone()\ny[x.sum() > 0] = 0.0", "non-strict", {(2, 13): "EXP106 error", (2, 15): "EXP106 error"}),
    ("y = x[: x.sum().long()]", "strict", {(2, 9): "EXP106 error", (2, 13): ""}),
    ("y = torch.distributions.Categorical(logits=x)", "non-strict", {(2, 13): "EXP209 error", (2, 15): ""}),
    (
        "y = torch.distributions.MultivariateNormal(x[0], torch.eye(3))",
        "non-strict",
        {(2, 13): "EXP209 error", (2, 15): "EXP209 error"},
    ),
    ("y = copy.deepcopy(x)", "non-strict", {(2, 6): "", (2, 9): "EXP205 error"}),
    (
        "try:\n    y = copy.deepcopy(x)\nexcept Exception:\n    y = x",
        "non-strict",
        {(2, 6): "", (2, 9): "EXP604 warning"},
    ),
    ("y = torch.func.grad(torch.sum)(x)", "non-strict", {(2, 6): "EXP609 warning", (2, 9): "EXP609 error"}),
]


@pytest.mark.parametrize(
    ("code", "mode", "version", "expected"),
    [(code, mode, version, expected) for code, mode, by in CASES for version, expected in by.items()],
)
def test_findings_follow_the_version(
    code: str, mode: Mode, version: TorchVersion, expected: str, tmp_path: Path
) -> None:
    head = "import copy\nimport heapq\nimport random\n\nimport torch\nfrom torch import nn\n\n\n"
    text = '    def text(self):\n        return "few"\n\n'
    body = textwrap.indent(f"{code}\nreturn x * 2\n", " " * 8)
    source = f"{head}class Model(nn.Module):\n{text}    def forward(self, x: torch.Tensor):\n{body}"
    layer = Layer(tmp_path, {"torch-version": version, "mode": mode, "dynamic-dims": ()})
    task = Task(tmp_path / "model.py", combine([layer], tmp_path), data=source.encode())
    assert [f"{found.code} {found.severity.value}" for found in lint([task]).findings] == (
        [expected] if expected else []
    )
