"""Modules that share a global or an attribute of their class go on sharing it, as buffers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from exportlint.findings import Applicability
from exportlint.fixer import fix
from tests.fixes.rewrites import Rewrite

MODEL = """\
import torch
from torch import nn

{before}


class Model(nn.Module):
{attributes}    def forward(self, x):
{lines}
"""
SHARED = {
    "a number": ("calls = 0", "", ["global calls", "calls += 1", "return x + calls"]),
    "an item": ('_STATE = {"n": 0, "seen": []}', "", ['_STATE["n"] += 2', 'return x * _STATE["n"]']),
    "a tensor": ("TOTAL = torch.zeros(3)", "", ["TOTAL.add_(1)", "return x - TOTAL"]),
    "a number of the class": ("", "calls = 1", ["type(self).calls *= 2", "return x + self.calls"]),
    "a tensor of the class": ("", "total = torch.zeros(3)", ["self.total.add_(1)", "return x + self.total"]),
}
OWN = {
    "a number of the class, which each module binds": ("", "calls = 0", ["self.calls += 1", "return x + self.calls"]),
}


@pytest.mark.parametrize("name", [*SHARED, *OWN])
def test_modules_that_are_called_in_turn(name: str, tmp_path: Path) -> None:
    before, attribute, lines = {**SHARED, **OWN}[name]
    attributes = f"    {attribute}\n\n" if attribute else ""
    source = MODEL.format(before=before, attributes=attributes, lines="\n".join(f"        {line}" for line in lines))
    (task,) = fix([Rewrite("case", "", source).task(tmp_path)], lambda _: Applicability.UNSAFE).tasks
    assert "register_buffer" in task.read().text
    expected, found = _called_in_turn(source), _called_in_turn(task.read().text)
    assert all(torch.equal(one, other) for one, other in zip(expected, found, strict=True))
    shared = torch.equal(found[0], found[1])
    assert shared is (name in OWN)


def _called_in_turn(source: str) -> list[torch.Tensor]:
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    models = [namespace["Model"](), namespace["Model"]()]
    return [model(torch.ones(3)).clone() for model in models * 2]
