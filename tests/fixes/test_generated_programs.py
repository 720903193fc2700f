"""Programs that nobody wrote: all that eager shows of them is the same after all safe fixes.

They are made of what the proofs are about: branches on tensor data and sizes, in loops and in each other, variables
that closures hold, other names for tensors, early returns, handlers, selections and numbers that were read.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

import pytest
import torch

from tests.fixes.test_eager import HEAD, fixed
from tests.fixes.test_safe_in_eager import alike, traces

VARIABLES = ("a", "b", "c")
CONDITIONS = (
    "{v}.sum() > 0",
    "{v}.max() < {w}.sum()",
    "({v} > 0).any()",
    "not ({v} > {w}).all()",
    "{v}.sum().item() > 0.5",
    "{v}.isnan().any() or {w}.sum() > 1",
    "{v}.sum() > 0 and {w}.sum() < 3",
    "len({v}[{v} > 0]) > 1",
    "({v} > 1).nonzero().shape[0] > 0",
    "0 < {v}.sum() < 4",
    "{v}.equal({w})",
    "x.shape[0] > 2",
    "self.k > 1",
)
EXPRESSIONS = (
    "{v} * 2",
    "{v} + 1",
    "{v} * 3.0",
    "{v} + {w}",
    "{v}.clone()",
    "{v}",
    "{v}.relu()",
    "{v}.detach() * 2",
    "{v} - {w}",
    "torch.zeros_like({v})",
    "{v} * self.k",
    "{v}.clamp(max=1.5)",
    "-{v}",
    "{v} * {w}",
    "{v}.sigmoid()",
    "{v} / 2",
    "{v} * x.shape[0]",
    "{v}.masked_fill({v} > 1, 0.0)",
    "torch.where({v} > 0, {v}, {w})",
    "{v}.data * self.w",
    "{v} + self.w",
    "({v} * 2 if {w}.sum() > 0 else {v} + 1)",
    "{v} * int(x.shape[0] * 0.5)",
    "{v} * len({w})",
    "{v}.abs().sqrt()",
    "{v} * torch.full_like({v}, 2.0)",
    "{v}.float() * self.seen",
    "{v}.view(-1)",
    "{v}[:4] * 1",
)
SIMPLE = (
    "{v} = {e}",
    "{v} = {e}",
    "{v} = {e}",
    "{v} = {w}",
    "{v}, {w} = {e}, {f}",
    "{v} += 1",
    "{v} = f()",
    "{v} = {v} + out",
    "out = out + {v}",
    "n = x.shape[0] if x.shape[0] < 4 else 4",
    "{v} = {v} * n",
    "self.h = {v}",
    "{v}[0] = 1.0",
    "n = 2",
    "q = 1 / (self.k - 2)",
    "{v}.mul_(2)",
    "{v} = x.clone()",
    "{v} = x",
    "rows.append({v})",
    "{v}.data.mul_(2)",
)
RESULTS = ("a, b, c, out", "a", "out + b", "a if c.sum() > 0 else b", "rows, c")
MODEL = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2
        self.count = 0
        self.w = nn.Parameter(torch.ones(3))

    @property
    def seen(self):
        self.count += 1
        return 2.0

    def forward(self, x: torch.Tensor, y: torch.Tensor):
        a, b, c = x, y, x * 1.0
        out, n, rows = x * 0.0, 1, []
        f = lambda: {held} * 2
{body}
        return {result}
"""
ARGUMENTS = [
    (one, other)
    for one in (torch.tensor([1.0, 2.0, -0.5]), torch.tensor([-1.0, -2.0, -3.0]))
    for other in (torch.tensor([2.0, 0.0, 1.0]), torch.tensor([-3.0, 1.0, -1.0], requires_grad=True))
]


class Writer:
    """Writes programs, each by the numbers that a seed gives."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def program(self) -> str:
        held, result = self._variable(), self._one(RESULTS)
        body = indent(self._block(2, loops=False, size=4), "        ")
        return HEAD + MODEL.format(held=held, body=body, result=result)

    def _block(self, depth: int, *, loops: bool, size: int = 2) -> str:
        return "".join(self._statement(depth, loops) for _ in range(self._random.randint(1, size)))

    def _statement(self, depth: int, loops: bool) -> str:
        kind = self._random.random()
        if not depth or kind < 0.45:
            return self._simple()
        body = indent(self._block(depth - 1, loops=loops), "    ")
        if kind < 0.8:
            other = indent(self._block(depth - 1, loops=loops), "    ")
            ways = f"if {self._condition()}:\n{body}"
            if kind < 0.55 and loops:
                return f"if {self._condition()}:\n    {self._one(('break', 'continue'))}\n"
            if kind < 0.6:
                return f"{ways}    return {self._variable()}\n"
            if kind > 0.75:
                return f"{ways}elif {self._condition()}:\n{other}else:\n{body}"
            return f"{ways}else:\n{other}" if kind < 0.72 else ways
        if kind < 0.9:
            body = indent(self._block(depth - 1, loops=True), "    ")
            return f"for i in range(2):\n{body}"
        raised = f"    if self.k > 5:\n        raise ValueError\n{indent(self._simple(), '    ')}"
        return f"try:\n{body}{raised}except ValueError:\n{indent(self._simple(), '    ')}"

    def _simple(self) -> str:
        names = {"v": self._variable(), "w": self._variable(), "e": self._expression(), "f": self._expression()}
        return self._one(SIMPLE).format(**names) + "\n"

    def _expression(self) -> str:
        return self._one(EXPRESSIONS).format(v=self._variable(), w=self._variable())

    def _condition(self) -> str:
        return self._one(CONDITIONS).format(v=self._variable(), w=self._variable())

    def _variable(self) -> str:
        return self._one(VARIABLES)

    def _one(self, of: Sequence[str]) -> str:
        return self._random.choice(of)


def require_same(seeds: range, directory: Path) -> int:
    """How many of the programs a safe fix changes."""
    changed = 0
    for seed in seeds:
        source = Writer(seed).program()
        after = fixed(source, directory)
        if after != source:
            changed += 1
            for arguments in ARGUMENTS:
                assert alike(traces(source, arguments), traces(after, arguments)), f"seed {seed}:\n{source}\n{after}"
    return changed


def test_some_programs(tmp_path: Path) -> None:
    assert require_same(range(12), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(12, 3_000, 300))
def test_many_programs(first: int, tmp_path: Path) -> None:
    assert require_same(range(first, min(first + 300, 3_000)), tmp_path) > 10
