"""What is reported of a model depends on the version of torch, where torch's behavior does."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Finding, Mode, TorchVersion
from exportlint.linter import Task, lint

CASES: list[tuple[str, Mode, dict[TorchVersion, str]]] = [
    # (statements of forward, mode, what EXPnnn with which severity for each version)
    ("y = nn.functional.pad(x, (0, x.sum().long()))", "non-strict", {(2, 6): "EXP202 error", (2, 9): ""}),
    ("inspect.isgeneratorfunction(len)", "strict", {(2, 6): "EXP606 error", (2, 9): ""}),
    ('y = sorted([("b", x), ("a", x)])[0][1]', "strict", {(2, 13): "EXP606 error", (2, 15): ""}),
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
    ("n = x.sum().long().item()\ny = x[n:, 1:]", "non-strict", {(2, 9): "EXP106 error", (2, 13): "EXP201 info"}),
    ("n = x.sum().long().item()\ny = x[n:, 1:]", "strict", {(2, 4): "EXP106 error", (2, 15): "EXP106 error"}),
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
    ("y = x * (3 in x)", "strict", {(2, 9): "EXP103 error", (2, 13): ""}),
    ("y = x * (3 in x)", "non-strict", {(2, 9): "EXP103 error", (2, 13): "EXP103 error"}),
    ("y = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)", "strict", {(2, 9): "EXP615 error", (2, 13): ""}),
    ("y = torch.bincount(x.argmax(1))", "non-strict", {(2, 6): "EXP615 error", (2, 9): ""}),
    ("y = torch.unique_consecutive(x)", "strict", {(2, 6): "EXP615 error", (2, 9): ""}),
    ("y = torch.quantile(x, 0.5)", "non-strict", {(2, 9): "EXP208 error", (2, 13): ""}),
    ("y = torch.tensor_split(x, x.argmax(1))", "strict", {(2, 9): "EXP208 error", (2, 13): ""}),
    ("y = x * max(x.sum(), 0.5)", "non-strict", {(2, 6): "EXP103 error", (2, 9): ""}),
    ("y = x * min([x.sum(), x.prod()])", "non-strict", {(2, 6): "EXP103 error", (2, 9): ""}),
    ("y = x * max(x.sum(), 0.5)", "strict", {(2, 6): ""}),
    ('y = locals()["x"] * 2', "strict", {(2, 9): "EXP606 error", (2, 13): ""}),
    ("with contextlib.suppress(ValueError):\n    y = x * 2", "strict", {(2, 9): "EXP606 error", (2, 13): ""}),
    ("with contextlib.ExitStack():\n    y = x * 2", "strict", {(2, 9): "EXP606 error", (2, 13): ""}),
    ("self.eval()", "strict", {(2, 9): "EXP606 error", (2, 13): ""}),
    ("self.eval()", "non-strict", {(2, 9): ""}),
    ("y = x[[x.argmax(), 0]]", "non-strict", {(2, 13): "EXP106 error", (2, 15): ""}),
    ("y = x[[x.argmax(), 0]]", "strict", {(2, 13): "EXP106 error", (2, 15): "EXP106 error"}),
    ("y = nn.Parameter(torch.ones(2))", "non-strict", {(2, 6): "EXP309 warning", (2, 9): "EXP309 warning"}),
    ("y = nn.LayerNorm(2)", "non-strict", {(2, 6): "EXP309 error", (2, 9): "EXP309 warning"}),
]

STATES: list[tuple[str, str, Mode, dict[TorchVersion, str]]] = [
    # (statements of __init__, statements of forward, mode, what each version is said to do)
    ("self.n = 0", "self.n += 1\ny = x * self.n", "strict", {(2, 9): "EXP306 warning", (2, 13): "EXP306 warning"}),
    (
        'self.n = 0\nself.register_buffer("kept", torch.ones(3))',
        "self.n += 1\ny = self.kept * self.n",
        "strict",
        {(2, 9): "EXP306 error", (2, 13): "EXP306 warning"},
    ),
    (
        "self.n = 0\nself.scale = nn.Parameter(torch.ones(3))",
        "self.n += 1\ny = self.scale * self.n",
        "non-strict",
        {(2, 9): "EXP306 warning", (2, 13): "EXP306 warning"},
    ),
    ("self.n = 0", "self.training = False\ny = x", "non-strict", {(2, 9): "EXP306 info", (2, 13): "EXP306 info"}),
    ("type(self).seen = []", "self.seen.append(1)\ny = x * len(self.seen)", "non-strict", {(2, 9): "EXP312 warning"}),
    ("self.act = None", "self.act = nn.ReLU()", "non-strict", {(2, 9): "EXP306 error", (2, 13): ""}),
    ("self.act = nn.ReLU()", "self.act = nn.GELU()", "non-strict", {(2, 9): "", (2, 13): ""}),
    ("self.act = nn.ReLU()", "self.act = nn.GELU()", "strict", {(2, 9): "EXP306 error", (2, 13): ""}),
    (
        "self.counter = itertools.count(1)",
        "y = x * next(self.counter)",
        "strict",
        {(2, 9): "EXP312 error", (2, 13): "EXP312 warning"},
    ),
    (
        "self.numbers = iter([1, 2, 3])",
        "y = x * next(self.numbers)",
        "strict",
        {(2, 9): "EXP312 error", (2, 13): "EXP312 error", (2, 15): "EXP312 error"},
    ),
]


@pytest.mark.parametrize(
    ("code", "mode", "version", "expected"),
    [(code, mode, version, expected) for code, mode, by in CASES for version, expected in by.items()],
)
def test_findings_follow_the_version(
    code: str, mode: Mode, version: TorchVersion, expected: str, tmp_path: Path
) -> None:
    text = '    def text(self):\n        return "few"\n\n'
    assert found(text, f"{code}\nreturn x * 2\n", mode, version, tmp_path) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("constructor", "code", "mode", "version", "expected"),
    [(made, code, mode, version, expected) for made, code, mode, by in STATES for version, expected in by.items()],
)
def test_findings_about_state_follow_the_version(
    constructor: str, code: str, mode: Mode, version: TorchVersion, expected: str, tmp_path: Path
) -> None:
    made = textwrap.indent(f"super().__init__()\n{constructor}\n", " " * 8)
    value = "y" if "y = " in code else "self.act(x)"
    text = f"    def __init__(self):\n{made}\n"
    assert found(text, f"{code}\nreturn {value}\n", mode, version, tmp_path) == ([expected] if expected else [])


@pytest.mark.parametrize(("version", "asks"), [((2, 6), "is_compiling"), ((2, 7), "is_exporting")])
@pytest.mark.parametrize("code", ["print(x.shape)", "self.calls = x.shape[0]", "f'{x.sum().item():.2f}'"])
def test_help_names_what_the_version_has(code: str, version: TorchVersion, asks: str, tmp_path: Path) -> None:
    helps = [finding.help or "" for finding in findings("", f"{code}\nreturn x\n", "non-strict", version, tmp_path)]
    assert [f"`if not torch.compiler.{asks}():`" in text for text in helps] == [True]


def found(members: str, forward: str, mode: Mode, version: TorchVersion, directory: Path) -> list[str]:
    """The codes and severities of what is found in a model."""
    made = findings(members, forward, mode, version, directory)
    return [f"{finding.code} {finding.severity.value}" for finding in made]


def findings(members: str, forward: str, mode: Mode, version: TorchVersion, directory: Path) -> Sequence[Finding]:
    """What is found in a model."""
    imports = "".join(f"import {name}\n" for name in ("contextlib", "copy", "heapq", "inspect", "itertools", "random"))
    head = f"{imports}\nimport torch\nfrom torch import nn\n\n\n"
    body = textwrap.indent(forward, " " * 8)
    source = f"{head}class Model(nn.Module):\n{members}    def forward(self, x: torch.Tensor):\n{body}"
    layer = Layer(directory, {"torch-version": version, "mode": mode, "dynamic-dims": ()})
    task = Task(directory / "model.py", combine([layer], directory), data=source.encode())
    return lint([task]).findings
