"""Tensors with a fixed number of rows next to one whose rows vary: torch.export cannot keep those dynamic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint

MODEL = """\
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x: Tensor):
        return {}
"""
FITTED = {
    "x + torch.zeros(4, 6)": True,
    "torch.cat([x, torch.zeros(4, 1)], 1)": True,
    "torch.where(torch.ones(4, 1) > 0, x, -x)": True,
    "torch.maximum(x, torch.zeros(4, 6))": True,
    "torch.stack([x, torch.zeros(4, 6)])": True,
    "torch.bmm(x[:, None], torch.zeros(4, 6, 2))": True,
    "torch.empty(4, 6).copy_(x)": True,
    "F.mse_loss(x, torch.zeros(4, 6))": True,
    "F.cross_entropy(x, torch.tensor([0, 1, 2, 0]))": True,
    "self.loss(x, torch.tensor([0, 1, 2, 0]))": True,
    "nn.MSELoss()(x, torch.zeros(4, 6))": True,
    "torch.where(torch.ones(6) > 0, x, -x)": False,
    "F.mse_loss(x, torch.zeros(6))": False,
    "F.cross_entropy(x, x.argmax(1), weight=torch.ones(6))": False,
    "self.loss(x, x.argmax(1))": False,
    "torch.stack([x, torch.zeros_like(x)])": False,
}
"""Expressions of `x`, whose rows vary: whether they fix how many there are."""


@pytest.mark.parametrize(("expression", "fixed"), FITTED.items(), ids=list(FITTED))
def test_the_linter_and_torch_agree(expression: str, fixed: bool, tmp_path: Path) -> None:
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    source = MODEL.format(expression)
    findings = lint([Task(tmp_path / "model.py", settings, data=source.encode())]).findings
    assert [f.name for f in findings] == ["fixed-size"] * fixed
    torch = pytest.importorskip("torch")
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    shapes = ({0: torch.export.Dim.AUTO},)
    program = torch.export.export(namespace["Model"](), (torch.rand(4, 6),), dynamic_shapes=shapes)
    assert bool(program.range_constraints) is not fixed
