"""What Python, NumPy and operators make of a symbolic size: a finding says so, and torch.export agrees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Mode
from exportlint.linter import Task, lint

MODEL = """\
import numbers

import numpy as np
import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({{"4": nn.Identity(), "7": nn.Identity()}})
        self.register_buffer("kept", torch.zeros(5, 6))

    def forward(self, x: Tensor):
        n, d = x.shape
        {}
"""
BRANCH, NUMBER, KEY = "size-branch", "size-to-number", "size-as-key"
USES = {
    # comparisons of tuples and lists
    "x * 2 if (n, d) == (4, 6) else x": (BRANCH, BRANCH),
    "x * 2 if (n, d) != (4, 6) else x": (BRANCH, BRANCH),
    "x * 2 if [n, 6] == [4, d] else x": (BRANCH, BRANCH),
    "x * 2 if (n, d) in [(4, 6), (9, 6)] else x": (BRANCH, BRANCH),
    "x * 2 if x.shape == [4, 6] else x": ("", ""),
    "x * 2 if x.shape == torch.Size([4, 6]) else x": (BRANCH, BRANCH),
    "x * 2 if [n, d] == [4] else x": ("", ""),
    # comparisons as numbers
    "x + int(n > 5)": (BRANCH, BRANCH),
    "x + float(n > 5)": (BRANCH, ""),
    "x + (n > 5) * 2": (BRANCH, BRANCH),
    "[x, -x][n > 5]": (BRANCH, BRANCH),
    "x.bool() | (n > 5)": (BRANCH, BRANCH),
    "x.sum(0, keepdim=n > 5)": (BRANCH, BRANCH),
    "torch.sum(x, 0, n > 5)": (BRANCH, BRANCH),
    "x.sort(descending=n > 5)[0]": (BRANCH, BRANCH),
    "x * (n > 5)": ("", ""),
    # order
    "x + sorted([n, 5])[0]": (KEY, KEY),
    "parts = [n, 5]; parts.sort(); return x + parts[0]": (KEY, KEY),
    "parts = [x, x * 2]; parts.sort(key=lambda t: t.shape[0]); return parts[0]": ("", KEY),
    "max([x, torch.ones(5, 6)], key=lambda t: t.shape[0])": (KEY, None),
    "max([x, x * 2], key=lambda t: t.shape[0])": ("", None),
    # pieces
    "x.split(2)[0]": ("size-loop", "size-loop"),
    "torch.cat([self.kept, x])[-5:]": ("", ""),
    "torch.cat([x, -x]).split(n)[1]": ("", ""),
    "a, b = torch.cat([x, -x]).split(n + 1); return a.sum() - b.sum()": ("", ""),
    "a, *_ = x.split(2); return a": ("size-loop", "size-loop"),
    # text
    "x + 1 if f'{n}' in ['4', '7'] else x": (KEY, KEY),
    "x + 1 if f'{n}' in self.layers else x": (KEY, KEY),
    "x + 1 if f'{n}'.startswith('4') else x": (KEY, KEY),
    "x + int(f'{n}')": (KEY, KEY),
    "x + 1 if str((n, d)) == '(4, 6)' else x": (KEY, NUMBER),
    "x * len('x'.join(map(str, x.shape)))": (KEY, NUMBER),
    # all sizes of a shape, one after the other
    "x.reshape([int(s) for s in x.shape])": (NUMBER, ""),
    "x.reshape([s for s in x.shape])": ("", ""),
    "x * 2 if any(s == 4 for s in x.shape) else x": (BRANCH, BRANCH),
    "sizes = [s for s in x.shape]; return x * 2 if sizes[1] == 6 else x": ("", ""),
    "x.reshape(-1, *[int(s) for s in x.shape[1:]])": ("", ""),
    # what its type is
    "x * 2 if isinstance(n, numbers.Integral) else x": ("size-type-test", ""),
    "x * 2 if isinstance(n, (numbers.Number, Tensor)) else x": ("size-type-test", ""),
    # NumPy
    "x * 2 if np.shape(x)[0] == 4 else x": (BRANCH, BRANCH),
    "x + torch.as_tensor(np.linspace(0, 1, n))[:, None]": (NUMBER, NUMBER),
    "x + torch.as_tensor(np.minimum(5, n))": (NUMBER, NUMBER),
    "x + torch.as_tensor(np.zeros((n, 6)))": (NUMBER, ""),
    "x + torch.as_tensor(np.full(shape=(n, 6), fill_value=2.0))": (NUMBER, ""),
    "x + torch.as_tensor(np.tile(np.arange(6), (n, 1)))": (NUMBER, ""),
    "x * np.mod(n, 3)": ("", None),
}
"""Expressions and statements with `x`, whose rows vary: the rules that report them in each mode, if any."""
CASES = [
    (expression, mode, rule)
    for expression, rules in USES.items()
    for mode, rule in zip(("non-strict", "strict"), rules, strict=True)
    if rule is not None
]


def model_of(use: str) -> str:
    return MODEL.format(use if "return" in use else f"return {use}")


@pytest.mark.parametrize(("expression", "mode", "rule"), CASES)
def test_the_linter_reports_it(expression: str, mode: Mode, rule: str, tmp_path: Path) -> None:
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13), "mode": mode})], tmp_path)
    source = model_of(expression).encode()
    findings = lint([Task(tmp_path / "model.py", settings, data=source)]).findings
    assert {f.name for f in findings if f.severity.value != "info"} == ({rule} if rule else set())


@pytest.mark.parametrize(("expression", "mode", "rule"), CASES)
def test_torch_fails_or_rejects_a_size_or_is_wrong(expression: str, mode: Mode, rule: str) -> None:
    torch = pytest.importorskip("torch")
    namespace: dict[str, Any] = {}
    exec(model_of(expression), namespace)
    model = namespace["Model"]()
    shapes, strict = ({0: torch.export.Dim.AUTO},), mode == "strict"
    inputs = [torch.arange(6.0 * n).reshape(n, 6) for n in (4, 7)]
    expected = [model(x) for x in inputs]
    try:
        program = torch.export.export(model, (inputs[0],), dynamic_shapes=shapes, strict=strict).module()
        agrees = all(torch.equal(program(x), y) for x, y in zip(inputs, expected, strict=True))
    except Exception:
        agrees = False
    assert agrees is not bool(rule)
