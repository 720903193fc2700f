"""Sizes that vary are followed through operators: where the linter says so, torch.export has a symbol there."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint

RANK = 4
MODEL = """\
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 3)
        self.features = nn.Sequential(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.ReLU(), nn.MaxPool2d(2))

    def forward(self, x: Tensor):
        n = x.shape[0]
        y = {expression}
"""

VARYING = {
    "x": {0},
    "x + 1": {0},
    "-x * 2": {0},
    "x.exp().relu().to(torch.float64)": {0},
    "torch.where(x > 0, x, 0.0)": {0},
    "x.masked_fill(x > 0, 0.0)": {0},
    "torch.zeros_like(x)": {0},
    "x.sum(-1)": {0},
    "x.sum(1)": {0},
    "x.sum(0)": set(),
    "x.mean((1, 2))": {0},
    "x.amax(dim=0, keepdim=True)": set(),
    "x.max(1).values": {0},
    "x.max(dim=1)[0]": {0},
    "x.argmax(1)": {0},
    "x.topk(2, 1)[0]": {0},
    "x.transpose(0, 1)": {1},
    "x.transpose(1, 2)": {0},
    "x.permute(2, 0, 1, 3)": {1},
    "torch.permute(x, (1, 2, 0, 3))": {2},
    "x.unsqueeze(0)": {1},
    "x.unsqueeze(1)": {0},
    "x[None]": {1},
    "x[:, None]": {0},
    "x[..., 0]": {0},
    "x[0]": set(),
    "x[:, 0]": {0},
    "x[:, 1:]": {0},
    "x[1:]": {0},
    "x[:2]": set(),
    "x[::2]": {0},
    "x.squeeze(1)": {0},
    "x.flatten(1)": {0},
    "x.flatten()": {0},
    "x.view(n, -1)": {0},
    "x.view(-1)": {0},
    "x.reshape(n * 3, -1)": {0},
    "x.reshape(3, n, -1)": {1},
    "x.view(x.size())": {0},
    "torch.zeros(n, 2)": {0},
    "x.new_ones(2, n)": {1},
    "torch.arange(n)": {0},
    "torch.full((n, 3), 1.0)": {0},
    "torch.ones(1, 4).expand(n, -1)": {0},
    "x.expand(-1, 3, 6, 6)": {0},
    "torch.ones(4).repeat(n, 1)": {0},
    "torch.cat([x, x], 1)": {0},
    "torch.cat([x, x])": {0},
    "torch.stack([x, x])": {1},
    "torch.stack([x, x], dim=1)": {0},
    "x.chunk(3, 1)[0]": {0},
    "x.split(1, dim=1)[0]": {0},
    "x @ torch.ones(6, 2)": {0},
    "torch.matmul(x, x)": {0},
    "self.linear(x)": {0},
    "self.features(x)": {0},
    "F.interpolate(x, scale_factor=2)": {0},
    "F.adaptive_avg_pool2d(x, 1).flatten(1)": {0},
    "F.softmax(x, dim=-1)": {0},
    "x[x > 0]": set(),
    "x.nonzero()": set(),
}
"""What `y` is, and which of its dimensions vary with the first one of `x`."""


@pytest.mark.parametrize(("expression", "dims"), VARYING.items(), ids=list(VARYING))
def test_the_linter_knows_which_sizes_vary(expression: str, dims: set[int], tmp_path: Path) -> None:
    source = MODEL.format(expression=expression)
    first = source.count("\n") + 1
    source += "".join(f"        if y.shape[{dim}] > 9: y = y + 1\n" for dim in range(RANK))
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    findings = lint([Task(tmp_path / "model.py", settings, data=source.encode())]).findings
    assert {f.span.start.row - first for f in findings if f.name == "size-branch"} == dims


@pytest.mark.parametrize(("expression", "dims"), VARYING.items(), ids=list(VARYING))
def test_torch_has_a_symbol_for_them(expression: str, dims: set[int]) -> None:
    torch = pytest.importorskip("torch")
    namespace: dict[str, object] = {}
    exec(MODEL.format(expression=expression) + "        return y\n", namespace)
    model = namespace["Model"]()  # type: ignore[operator]
    x = torch.ones(5, 3, 6, 6)
    program = torch.export.export(model.eval(), (x,), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    output = next(node for node in program.graph.nodes if node.op == "output").args[0][0].meta["val"]
    backed = {
        dim
        for dim, size in enumerate(output.shape)
        if isinstance(size, torch.SymInt) and "u" not in str(size)  # an unbacked symbol comes from data
    }
    assert backed == dims
