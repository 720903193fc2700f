"""A trail leads from where a tensor comes from to the finding, step by step, through other functions and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint
from tests.analysis.cases import FORWARD

IN_FORWARD = {
    "an input": ("if x.sum() > 0: pass", ["7 `x` is an input of `Model.forward`"]),
    "an assignment": (
        "mask = x > 0\nif mask.any(): pass",
        ["7 `x` is an input of `Model.forward`", "8 `mask` is `x > 0`"],
    ),
    "several assignments": (
        "a = x * 2\nb = a + y\nc = b.sum()\nif c > 0: pass",
        [
            "7 `x` is an input of `Model.forward`",
            "8 `a` is `x * 2`",
            "9 `b` is `a + y`",
            "10 `c` is `b.sum()`",
        ],
    ),
    "a number read from it": (
        "n = x.sum().item()\nif n > 3: pass",
        ["7 `x` is an input of `Model.forward`", "8 `n` is `x.sum().item()`"],
    ),
    "unpacking": (
        "a, b = x.chunk(2)\nif b.sum() > 0: pass",
        ["7 `x` is an input of `Model.forward`", "8 `b` is `x.chunk(2)`"],
    ),
    "walrus": (
        "if (total := x.sum()) > 0 and y.dim() == 2: pass",
        ["7 `x` is an input of `Model.forward`", "8 `total` is `x.sum()`"],
    ),
    "a loop": (
        "for row in x:\n    if row.sum() > 0: pass",
        ["7 `x` is an input of `Model.forward`", "8 `row` is an element of `x`"],
    ),
    "only what led there": (
        "mask = y > 0\nx = x.relu()\nif x.any(): pass",
        ["7 `x` is an input of `Model.forward`", "9 `x` is `x.relu()`"],
    ),
    "a long expression": (
        f"z = x.{'relu().' * 20}sum()\nif z > 0: pass",
        ["7 `x` is an input of `Model.forward`", f"8 `z` is `x.{'relu().' * 8}r…`"],
    ),
}

HELPERS = """\
def is_dark(images, limit=0.1):
    level = images.mean()
    return level < limit


def choose(flag, a, b):
    if flag:
        return a
    return b
"""

MODEL = """\
import torch
from helpers import choose, is_dark
from torch import nn


class Block(nn.Module):
    def forward(self, t, flag=False):
        chosen = flag
        return choose(chosen, t, -t)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.register_buffer("peak", torch.zeros(3))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x, y):
        {}
"""

ACROSS_FILES = {
    "what a helper returns": (
        "if is_dark(x): pass",
        "model.py:20",
        [
            "model.py:19 `x` is an input of `Model.forward`",
            "model.py:20 passed as `images` to `is_dark`",
            "helpers.py:2 `level` is `images.mean()`",
            "helpers.py:3 `level < limit` is returned",
            "model.py:20 returned by `is_dark`",
        ],
    ),
    "what a helper is given": (
        "return choose(y.any(), x, y)",
        "helpers.py:7",
        ["model.py:19 `y` is an input of `Model.forward`", "model.py:20 passed as `flag` to `choose`"],
    ),
    "through a submodule": (
        "return self.block(x, y.any())",
        "helpers.py:7",
        [
            "model.py:19 `y` is an input of `Model.forward`",
            "model.py:20 passed as `flag` to `Block.forward`",
            "model.py:8 `chosen` is `flag`",
            "model.py:9 passed as `flag` to `choose`",
        ],
    ),
}

STATE = {
    "a buffer": ("if self.peak.max() > 0: pass", "model.py:20", ["model.py:20 `self.peak` is a buffer"]),
    "a parameter": ("if self.scale > 0: pass", "model.py:20", ["model.py:20 `self.scale` is a parameter"]),
}


def trails(files: dict[str, str], directory: Path) -> dict[str, list[str]]:
    """The steps that lead to each place where something is found."""
    settings = combine([Layer(directory, {"torch-version": (2, 13), "dynamic-dims": ()})], directory)
    for name, source in files.items():
        (directory / name).write_text(source, encoding="utf-8")
    result = lint([Task(directory / name, settings) for name in files])
    return {
        f"{Path(finding.filename).name}:{finding.span.start.row}": [
            f"{Path(step.filename).name}:{step.span.start.row} {step.message}" for step in finding.trail
        ]
        for finding in result.findings
    }


ATTRIBUTES = {
    "a value": (
        "y = x + self.scale\nself.last = y * self.last\nreturn self.last",
        ["11 `self.last` holds what an earlier call stored", "11 `self.last` is changed for the next call"],
    ),
    "a switch": (
        "if self.last:\n    self.last = False\n    for p in self.parameters():\n        p.add_(1)\nreturn x",
        [
            "10 `self.last` holds what an earlier call stored",
            "13 it decides whether `p.add_(1)` runs",
            "11 `self.last` is changed for the next call",
        ],
    ),
}


@pytest.mark.parametrize(("body", "steps"), ATTRIBUTES.values(), ids=list(ATTRIBUTES))
def test_the_steps_to_what_a_call_leaves_behind(body: str, steps: list[str], tmp_path: Path) -> None:
    source = FORWARD.replace("    def forward", "    last = True\n\n    def forward")
    source += "".join(f"        {line}\n" for line in body.splitlines())
    found = trails({"model.py": source}, tmp_path)
    assert [f"model.py:{step}" for step in steps] in found.values()


@pytest.mark.parametrize(("body", "steps"), IN_FORWARD.values(), ids=list(IN_FORWARD))
def test_the_steps_in_one_function(body: str, steps: list[str], tmp_path: Path) -> None:
    source = FORWARD + "".join(f"        {line}\n" for line in body.splitlines())
    ((_, found),) = trails({"model.py": source}, tmp_path).items()
    assert found == [f"model.py:{step}" for step in steps]


@pytest.mark.parametrize(("statement", "place", "steps"), ACROSS_FILES.values(), ids=list(ACROSS_FILES))
def test_the_steps_through_functions_and_files(statement: str, place: str, steps: list[str], tmp_path: Path) -> None:
    found = trails({"helpers.py": HELPERS, "model.py": MODEL.format(statement)}, tmp_path)
    assert found[place] == steps


@pytest.mark.parametrize(("statement", "place", "steps"), STATE.values(), ids=list(STATE))
def test_the_steps_from_the_state_of_the_module(statement: str, place: str, steps: list[str], tmp_path: Path) -> None:
    found = trails({"helpers.py": HELPERS, "model.py": MODEL.format(statement)}, tmp_path)
    assert found[place] == steps


def test_the_steps_are_where_the_message_says(tmp_path: Path) -> None:
    source = FORWARD + "        größe = x > 0; mask = größe.any(\n        )\n        if mask: pass\n"
    (tmp_path / "model.py").write_text(source, encoding="utf-8")
    settings = combine([Layer(tmp_path, {})], tmp_path)
    (finding,) = lint([Task(tmp_path / "model.py", settings)]).findings
    spans = [(s.span.start.row, s.span.start.column, s.span.end.row, s.span.end.column) for s in finding.trail]
    assert spans == [(7, 23, 7, 32), (8, 17, 8, 22), (8, 31, 9, 10)]
    assert [step.message for step in finding.trail][1:] == ["`größe` is `x > 0`", "`mask` is `größe.any(…`"]
    assert (finding.span.start.column, finding.span.end.column) == (12, 16)


def test_a_trail_is_of_the_module_that_it_explains(tmp_path: Path) -> None:
    """Also where another module has called the same function in the same way before."""
    first = HELPERS + FORWARD.replace("Model", "First") + "        return is_dark(x)\n\n\n"
    second = "class Second(nn.Module):\n    def forward(self, image):\n        if is_dark(image): return image\n"
    (steps,) = trails({"model.py": first + second}, tmp_path).values()
    assert [step.partition(" ")[2] for step in steps] == [
        "`image` is an input of `Second.forward`",
        "passed as `images` to `is_dark`",
        "`level` is `images.mean()`",
        "`level < limit` is returned",
        "returned by `is_dark`",
    ]
