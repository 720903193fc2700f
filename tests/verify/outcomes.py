"""A project with one of everything, and runs of it as a worker would tell them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exportlint.config import Configuration
from exportlint.verify.linting import Linted
from exportlint.verify.reports import Outcome
from exportlint.verify.results import Comparison, Failure, Frame, Run
from exportlint.verify.target import Guessed, Reference, Target

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'\x1b[31m\x00"
"""What a page, a terminal or an XML file must not obey."""

MODEL = """\
import random
import torch
from torch import nn


class Gate(nn.Module):
    \"\"\"</script><script>alert(3)</script>\"\"\"

    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return x.unknown()


class Noise(nn.Module):
    def forward(self, x):
        if x.shape[0] == 3:
            return x
        return x * random.random()


class Fine(nn.Module):
    def forward(self, x):
        if x.mean() > 0:  # exportlint: ignore[tensor-branch]
            return x
        return -x
"""


@dataclass(frozen=True)
class NoTarget:
    name: str
    place: tuple[Path, int]
    reason: str
    proposal: tuple[str, ...] = ()


def targets(file: Path) -> list[Target]:
    root = file.parent
    rows = {"Gate": 6, "Noise": 15, "Fine": 22, "Slow": 1}
    return [
        Target(f"shop.models:{name}", "inferred", Reference("shop.models", name, file), Guessed(), (file, row), root)
        for name, row in rows.items()
    ]


def runs(file: Path) -> list[Run]:
    name = str(file)
    branch = Failure(
        "export",
        "GuardOnDataDependentSymNode",
        f"Could not guard on data-dependent expression Eq(u0, 1) {HOSTILE}\n\nconsider something",
        (Frame(name, 10, "forward"),),
    )
    further = Failure(
        "export",
        "AttributeError",
        "'Tensor' object has no attribute 'unknown'",
        (Frame(name, 12, "forward"),),
        hints=("torch._check(u0 >= 0)", "torch._check(u0 < 0)"),
        further=True,
    )
    versions = {"torch": "2.13.0", "python": "3.11.2"}
    return [
        Run(
            "shop.models:Gate", "non-strict", "cpu", "fails", "GuardOnDataDependentSymNode: Could not guard",
            (branch, further), lines={name: (10, 11, 12)}, files={name: "0" * 64}, inputs=("x: float32[2, 3]",),
            versions=versions, seconds=1.25, output=f"hello\n{HOSTILE}\n",
        ),
        Run(
            "shop.models:Noise", "non-strict", "cpu", "diverges", "another result on a second call",
            comparisons=(
                Comparison("example", "example", "agrees", "", 1e-7),
                Comparison("again", "second call", "diverges", "0.1 became 0.9", 0.8),
                Comparison("size", "batch = 1", "agrees", "", 0.0),
                Comparison("size", "batch = 3", "agrees", "", float("nan")),
            ),
            lines={name: (17, 19)}, versions=versions, seconds=12.5,
        ),
        Run(
            "shop.models:Fine", "non-strict", "cpu", "fails", "GuardOnDataDependentSymNode",
            (Failure("export", "GuardOnDataDependentSymNode", "no", (Frame(name, 24, "forward"),)),),
            lines={name: (24, 25)},
        ),
        Run("shop.models:Slow", "non-strict", "cpu", "times out", "in export, after 300 s"),
    ]  # fmt: skip


def outcome(directory: Path) -> tuple[Outcome, Linted]:
    file = directory / "mo&dels.py"
    file.write_text(MODEL, encoding="utf-8")
    linted = Linted(Configuration(directory, isolated=True))
    made = runs(file)
    return (
        Outcome(
            directory,
            targets(file),
            made,
            linted.judge(made, [file]),
            [NoTarget("shop.models:Loader", (file, 1), "the constructor needs `path`")],
            14.0,
        ),
        linted,
    )
