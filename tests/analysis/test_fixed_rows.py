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
        self.cell = nn.GRUCell(6, 5)
        self.lstm = nn.LSTM(6, 5, batch_first=True)

    def forward(self, x: Tensor):
        {}
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
    "F.cosine_similarity(x, torch.zeros(4, 6))": True,
    "x * torch.tensor([[1.0], [2.0], [3.0], [4.0]])": True,
    "self.cell(x, torch.zeros(4, 5))": True,
    "self.lstm(x[:, None], (torch.zeros(1, 4, 5), torch.zeros(1, 4, 5)))[0]": True,
    "y = torch.zeros(4, 6); y[:] = x; return y": True,
    "y = torch.zeros(4, 6); y[:, :6] = x; return y": True,
    "y = torch.zeros(4, 6); y += x; return y": True,
    "self.cell(x, torch.zeros(x.shape[0], 5))": False,
    "self.lstm(x[:, None], (torch.zeros(1, x.shape[0], 5), torch.zeros(1, x.shape[0], 5)))[0]": False,
    "y = torch.zeros(8, 6); y[: x.shape[0]] = x; return y": False,
    "y = torch.zeros(4, 6); y[0] = x.sum(0); return y + x.sum()": False,
    "torch.where(torch.ones(6) > 0, x, -x)": False,
    "F.mse_loss(x, torch.zeros(6))": False,
    "F.cross_entropy(x, x.argmax(1), weight=torch.ones(6))": False,
    "self.loss(x, x.argmax(1))": False,
    "torch.stack([x, torch.zeros_like(x)])": False,
}
"""Expressions and statements with `x`, whose rows vary: whether they fix how many there are."""


@pytest.mark.parametrize(("expression", "fixed"), FITTED.items(), ids=list(FITTED))
def test_the_linter_and_torch_agree(expression: str, fixed: bool, tmp_path: Path) -> None:
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    source = MODEL.format(expression if "return" in expression else f"return {expression}")
    findings = lint([Task(tmp_path / "model.py", settings, data=source.encode())]).findings
    assert [f.name for f in findings] == ["fixed-size"] * fixed
    torch = pytest.importorskip("torch")
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    shapes = ({0: torch.export.Dim.AUTO},)
    program = torch.export.export(namespace["Model"](), (torch.rand(4, 6),), dynamic_shapes=shapes)
    assert bool(program.range_constraints) is not fixed
