"""Every way to read tensor data x every use that Python or torch has for it: what torch.export was measured to do.

`demands.jsonl` has a letter for each source of data: `E`: export raises, `o`: it passes, `-`: the model raises without
export, `?`: the linter is wrong there still. Measured with torch 2.13, on inputs of ones.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from textwrap import indent

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Severity
from exportlint.linter import Task, lint
from tests.sampling import one_in

SOURCES = {
    "bool": "(x > 1).any()",
    "float": "x.sum()",
    "int": "(x > 0).sum()",
    "read bool": "(x > 1).any().item()",
    "read float": "x.sum().item()",
    "read int": "(x > 0).sum().item()",
    "size": "x.nonzero().shape[0]",
}
HEADER = """\
import collections
import copy
import functools
import itertools
import math
import operator
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, y: Tensor):
        t = {source}
"""
ROWS = [json.loads(line) for line in (Path(__file__).parents[1] / "data/demands.jsonl").read_text().splitlines()]
MODES = ("non-strict", "strict")


def _module(source: str, body: str) -> str:
    return HEADER.format(source=source) + indent(body, " " * 8) + "\n"


@pytest.mark.thorough
@pytest.mark.parametrize("mode", one_in(2, MODES))
def test_errors_are_where_export_raises(mode: str, tmp_path: Path) -> None:
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13), "mode": mode, "dynamic-dims": ()})], tmp_path)
    expected = {}
    for number, row in enumerate(ROWS):
        for (name, source), letter in zip(SOURCES.items(), row[mode], strict=True):
            if letter in "Eo":
                path = tmp_path / f"{number}_{name.replace(' ', '_')}.py"
                path.write_text(_module(source, row["body"]))
                expected[path.name] = letter
    findings = lint([Task(path, settings) for path in sorted(tmp_path.iterdir())]).findings
    failing = {Path(f.filename).name for f in findings if f.severity is Severity.ERROR}
    wrong = {name: row for name, row in expected.items() if (name in failing) is not (row == "E")}
    assert wrong == {}


def test_few_are_wrong_still() -> None:
    letters = "".join(row[mode] for row in ROWS for mode in MODES)
    assert letters.count("?") * 100 < (letters.count("E") + letters.count("o")) * WRONG_PERCENT


WRONG_PERCENT = 7


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", one_in(6, ROWS[::12]), ids=lambda row: row["body"].replace("\n", "; "))
def test_torch_agrees(row: dict[str, str], mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13."):
        pytest.skip("the table is about torch 2.13")
    for number, (source, letter) in enumerate(zip(SOURCES.values(), row[mode], strict=True)):
        if letter not in "Eo":
            continue
        path = tmp_path / f"demand_{number}.py"
        path.write_text(_module(source, row["body"]))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, module)
        spec.loader.exec_module(module)
        torch._dynamo.reset()
        raised = False
        try:
            torch.export.export(module.Model().eval(), (torch.ones(2, 3), torch.ones(2, 3)), strict=mode == "strict")
        except Exception:
            raised = True
        assert raised is (letter == "E"), source
