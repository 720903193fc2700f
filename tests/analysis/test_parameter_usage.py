"""What the uses of an argument show it to be: only of tensors does a size vary with the batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint

MODEL = """\
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def averaged(t):
    return t.mean()


def joined(ts):
    return torch.cat([t.relu() for t in ts])


class Block(nn.Module):
    def forward(self, t: Tensor):
        return t


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.block = Block()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.level = 2

    def helper(self, ts):
        return joined(ts)

    def forward(self, {parameters}):
        {body}
"""

COUNTS = "n = len(x)"
TENSORS = [
    "x.sum()",
    "x - 1",
    "x > 0.5",
    "x @ x",
    "x[:, 0]",
    "x[..., 0]",
    "x[None]",
    "x[0, 1]",
    "x[x > 0]",
    "F.relu(x)",
    "torch.remainder(x, 2)",
    "torch.pow(2.0, x)",
    "torch.cat([x, x])",
    "self.linear(x)",
    "self.layers(x)",
    "self.block(x)",
    "averaged(x)",
    "averaged(t=x)",
]
"""What only tensors allow."""
ITERABLES = [
    "x[0]",
    "x[-1] + x[self.level]",
    "x[:2]",
    "x[0].shape",
    "[t + 1 for t in x]",
    "[t.shape for t in reversed(x)]",
    "[x[i].sum() for i in range(2)]",
    "[a + b for a, b in zip(x, x)]",
    "[t * i for i, t in enumerate(x)]",
    "[b(t) for b, t in zip(self.blocks, x)]",
    "torch.cat(x, 1)",
    "torch.stack([*x])",
    "joined(x)",
    "self.helper(x)",
    "averaged(x[0])",
]
"""What lists, tuples and tensors allow."""
REBOUND = [
    "x = x[0]; x.sum()",
    "x = x[-1]; F.relu(x)",
    "x = torch.cat(x, 1); x.sum()",
    "x = torch.stack([t for t in x]); x - 1",
    "a, b = x; a.sum() + b.mean()",
    "first, *x = x; first.sum()",
]
"""The variable holds something else when it is used as a tensor."""


def sizes(body: str, directory: Path, parameters: str = "x") -> list[str]:
    """The findings about sizes that vary."""
    path = directory / "model.py"
    path.write_text(MODEL.format(parameters=parameters, body=body))
    settings = combine([Layer(directory, {"torch-version": (2, 13)})], directory)
    findings = lint([Task(path, settings)]).findings
    assert not [f for f in findings if f.code.startswith("EXP0")]
    return sorted({f.name for f in findings if f.code.startswith("EXP4")})


@pytest.mark.parametrize("use", TENSORS)
def test_a_use_that_only_tensors_allow_shows_a_tensor(use: str, tmp_path: Path) -> None:
    assert sizes(f"{COUNTS}; return n, {use}", tmp_path) == ["size-to-number"]


@pytest.mark.parametrize("use", ITERABLES)
def test_a_use_that_lists_allow_shows_no_tensor(use: str, tmp_path: Path) -> None:
    assert sizes(f"{COUNTS}; return n, {use}", tmp_path) == []


@pytest.mark.parametrize("body", REBOUND)
def test_a_variable_may_hold_something_else_later(body: str, tmp_path: Path) -> None:
    assert sizes(f"{COUNTS}; {body}; return n", tmp_path) == []


@pytest.mark.parametrize("use", TENSORS)
def test_a_variable_that_holds_an_item_shows_nothing_of_the_whole(use: str, tmp_path: Path) -> None:
    assert sizes(f"{COUNTS}; x = x[1]; return n, {use}", tmp_path) == []


@pytest.mark.parametrize(
    "annotation",
    [
        "list[Tensor]", "tuple[Tensor, ...]", "tuple[Tensor, Tensor]", "'list[Tensor]'", "list['Tensor']",
        "list[Tensor] | None",
        "Tensor | list[Tensor] | None", "list[Tensor] | tuple[Tensor, ...]", "dict[str, Tensor]", "list", "tuple",
    ],
)  # fmt: skip
def test_a_container_that_is_annotated_has_no_size_that_varies(annotation: str, tmp_path: Path) -> None:
    body = "rows = [row for row in x]; return len(x), rows, list(x)[:2]"
    assert sizes(body, tmp_path, f"x: {annotation}") == []


def test_what_modules_take_one_each_is_a_list_whatever_is_promised(tmp_path: Path) -> None:
    body = "return [b(t) for b, t in zip(self.blocks, x)], x[-1].shape"
    assert sizes(body, tmp_path, "x: Tensor") == []
    assert sizes("return [a + b for a, b in zip(x, x)]", tmp_path, "x: Tensor") == ["size-loop"]


@pytest.mark.parametrize("others", ["", "class Other(nn.Module):\n    def forward(self, y):\n        return y.sum()"])
def test_an_unrelated_class_changes_nothing(others: str, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    model = "class Model(nn.Module):\n    def forward(self, x, flag: bool):\n        return x if flag else x[0]"
    path.write_text("\n\n\n".join(["from torch import nn", *([others] if others else []), model]))
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    assert [f.name for f in lint([Task(path, settings)]).findings] == ["baked-argument"]
