"""A size for which the same file gives a `Dim` must stay free: what limits it makes export fail, as torch proves."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint
from tests.analysis.fresh_exports import refusal

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim, export


class Model(nn.Module):
    def forward(self, x):
        n = x.shape[0]
        {}
        return {}


def exported(strict):
    return export(Model().eval(), (torch.ones(3, 4),), dynamic_shapes={{"x": {{0: {}}}}}, strict=strict)
"""

LIMITED = [
    ("pass", "x if n > 2 else -x"),
    ("pass", "x if n % 2 == 0 else -x"),
    ("assert n <= 512", "x"),
    ("assert n % 3 == 0", "x"),
    ("if n > 512: raise ValueError", "x"),
    ("n = n if n < 5 else 5", "x[:n]"),
    ("pass", "x.reshape(2, -1)"),
    ("pass", "x[: n // 2]"),
]
"""What leaves some sizes: `Dim("rows")` does not take it, `Dim.DYNAMIC` does."""
FIXED = [
    ("pass", "x if n == 3 else -x"),
    ("assert n == 3", "x"),
    ("if n != 3: raise ValueError", "x"),
    ("pass", "x + torch.zeros(3, 4)"),
    ("pass", "F.cross_entropy(x, torch.tensor([0, 1, 2]))"),
    ("pass", "torch.stack([x, torch.zeros(3, 4)])"),
    ("pass", "x.view(3, 4)"),
    ("pass", "sum(x[i] for i in range(n))"),
    ("pass", "sum(row for row in x)"),
    ("pass", "x.unbind(0)[0]"),
    ("pass", "x.split(1)[0]"),
    ("pass", "x[[i for i in range(n)]]"),
]
"""What leaves one size: neither takes it."""
FREE = [
    ("pass", "x.reshape(-1, 2)"),
    ("pass", "x[:2]"),
    ("pass", "x if n == 1 else -x"),
    ("assert n >= 2", "x"),
    ("pass", "x + torch.arange(n)[:, None]"),
    ("pass", "x * torch.tensor(n)"),
    ("pass", "x.roll(n // 2, 0)"),
    ("pass", "x + len(str(x.shape[1]))"),
]
"""What takes every size of two or more."""
NAMED, DYNAMIC, AUTO = 'Dim("rows")', "Dim.DYNAMIC", "Dim.AUTO"
CASES = [
    *((*code, {NAMED}) for code in LIMITED),
    *((*code, {NAMED, DYNAMIC}) for code in FIXED),
    *((*code, set[str]()) for code in FREE),
]


def codes(statement: str, result: str, dim: str, directory: Path) -> list[str]:
    """The rules that say that export fails."""
    file = directory / "model.py"
    file.write_text(MODEL.format(statement, result, dim), "utf-8")
    settings = combine([Layer(directory, {"torch-version": (2, 13)})], directory)
    return [f.code for f in lint([Task(file, settings)]).findings if f.severity.value == "error"]


@pytest.mark.parametrize("dim", [NAMED, DYNAMIC, AUTO])
@pytest.mark.parametrize(("statement", "result", "refused"), CASES)
def test_export_fails(statement: str, result: str, refused: set[str], dim: str, tmp_path: Path) -> None:
    found = codes(statement, result, dim, tmp_path)
    assert len(found) == (dim in refused)
    assert set(found) <= {"EXP401", "EXP402", "EXP403", "EXP407"}


@pytest.mark.thorough
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dim", [NAMED, DYNAMIC, AUTO])
@pytest.mark.parametrize(("statement", "result", "refused"), CASES)
def test_torch_proves_it(
    statement: str, result: str, refused: set[str], dim: str, strict: bool, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "model.py"
    file.write_text(MODEL.format(statement, result, dim), "utf-8")
    reason = refusal(file, strict=strict)
    assert "Constraints violated" in reason if dim in refused else not reason


@pytest.mark.parametrize(
    ("dim", "expected"),
    [('Dim("rows", max=512)', []), ('Dim("rows", max=1024)', ["EXP401"]), ('Dim("others") + 1', [])],
)
def test_bounds_that_the_code_allows(dim: str, expected: list[str], tmp_path: Path) -> None:
    assert codes("assert n <= 512", "x", dim, tmp_path) == expected


def test_what_is_refused_says_which_dim_does_it(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(MODEL.format("pass", "x if n > 2 else -x", NAMED), "utf-8")
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    messages = [f.message for f in lint([Task(file, settings)]).findings if f.code == "EXP401"]
    assert messages == [
        "condition on a size: export fails, since a call in this file gives this dimension a `Dim`",
    ]


LAYER = """\
import torch
from torch import nn
from torch.export import Dim, export


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.{}

    def forward(self, x):
        return self.layer({})


def exported(strict):
    return export(Model().eval(), (torch.ones({}),), dynamic_shapes={{"x": {{{}: {}}}}}, strict=strict)
"""
LAYERS = [
    ("Linear(4, 5)", "x", (3, 4), 1, True),
    ("Linear(4, 5)", "x", (2, 3, 4), 1, False),
    ("Conv1d(3, 4, 3)", "x", (2, 3, 8), 1, True),
    ("Conv2d(3, 4, 1)", "x", (2, 3, 8, 8), 1, True),
    ("Conv2d(3, 4, 1)", "x", (2, 3, 8, 8), 2, False),
    ("ConvTranspose2d(3, 4, 3)", "x", (2, 3, 8, 8), 1, True),
    ("BatchNorm2d(3)", "x", (2, 3, 8, 8), 1, True),
    ("GroupNorm(2, 4)", "x", (2, 4, 8), 1, True),
    ("LayerNorm(4)", "x", (2, 3, 4), 2, True),
    ("LayerNorm(4)", "x", (2, 3, 4), 1, False),
    ("LSTM(4, 5)", "x", (2, 3, 4), 2, True),
    ("MultiheadAttention(4, 2)", "x, x, x", (2, 3, 4), 2, True),
]
"""Layers, what they are given, the shape of the example, the dimension that is dynamic, and whether that fails."""


@pytest.mark.parametrize("dim", [NAMED, DYNAMIC, AUTO])
@pytest.mark.parametrize(("layer", "given", "shape", "place", "fails"), LAYERS)
def test_layers_have_parameters_for_one_size(
    layer: str, given: str, shape: tuple[int, ...], place: int, fails: bool, dim: str, tmp_path: Path
) -> None:
    file = tmp_path / "model.py"
    file.write_text(LAYER.format(layer, given, ", ".join(map(str, shape)), place, dim), "utf-8")
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    found = [f.code for f in lint([Task(file, settings)]).findings if f.severity.value == "error"]
    assert found == (["EXP407"] if fails and dim != AUTO else [])


@pytest.mark.thorough
@pytest.mark.parametrize("dim", [NAMED, DYNAMIC, AUTO])
@pytest.mark.parametrize(("layer", "given", "shape", "place", "fails"), LAYERS)
def test_torch_proves_it_of_layers(
    layer: str, given: str, shape: tuple[int, ...], place: int, fails: bool, dim: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "model.py"
    file.write_text(LAYER.format(layer, given, ", ".join(map(str, shape)), place, dim), "utf-8")
    reason = refusal(file, strict=False)
    assert "Constraints violated" in reason if fails and dim != AUTO else not reason


def test_older_torch_is_not_said_to_refuse(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(MODEL.format("x = nn.Linear(4, 5)(x)", "x if n > 2 else -x", NAMED), "utf-8")
    settings = combine([Layer(tmp_path, {"torch-version": (2, 9)})], tmp_path)
    found = {f.code: f.severity.value for f in lint([Task(file, settings)]).findings}
    assert found["EXP401"] == "warning"
    assert "EXP407" not in found


def test_a_call_that_may_fail_claims_nothing(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    text = MODEL.format("pass", "x if n > 2 else -x", NAMED).replace(
        "    return export(", "    with pytest.raises(UserError):\n        export("
    )
    file.write_text(f"import pytest\nfrom torch._dynamo.exc import UserError\n{text}", "utf-8")
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    assert {f.severity.value for f in lint([Task(file, settings)]).findings if f.code == "EXP401"} == {"warning"}
