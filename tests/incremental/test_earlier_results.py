"""While the classes that an edit concerns are run again, what was found in them before is shown where it is now."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from exportlint.big_stack import on_big_stack
from exportlint.config.settings import combine
from exportlint.findings import Finding
from exportlint.server import analyzer
from exportlint.workspace import NO_FIXES, Task, Unit, Workspace
from tests.incremental.edits import edited, parses
from tests.incremental.projects import project
from tests.incremental.runs import noted_runs
from tests.incremental.servers import InProcess
from tests.incremental.walk import Walk
from tests.patience import PATIENCE

MODELS = """import torch
from torch import nn


def scaled(x):
    return x * 2


class Layer(nn.Module):
    def forward(self, x):
        y = x + 1
        return y


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x):
        total = x.item()
        return scaled(self.layer(x)) + total


class Second(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x):
        y = self.layer(x)
        if y.sum() > 0:
            return y
        return -scaled(y)


class Apart(nn.Module):
    def forward(self, x):
        return x.tolist()
"""


@dataclass
class Document:
    """One file in a workspace that keeps results; `ran` are the classes that were run since it was last edited."""

    path: Path
    text: str
    ran: list[str]

    def __post_init__(self) -> None:
        self.workspace = Workspace({self.path: self.text.encode()}, keeps_results=True)
        self.look()

    def edit(self, old: str, new: str) -> None:
        assert old in self.text
        self.text = self.text.replace(old, new, 1)
        self.workspace.hold(self.path, self.text.encode())
        self.ran.clear()

    def look(self, patience: float = PATIENCE) -> Unit:
        task = Task(self.path, combine([], self.path.parent), data=self.text.encode())
        return on_big_stack(lambda: self.workspace.lint(task, NO_FIXES, patience))

    @property
    def fresh(self) -> tuple[Finding, ...]:
        task = Task(self.path, combine([], self.path.parent), data=self.text.encode())
        return on_big_stack(lambda: Workspace({self.path: self.text.encode()}).lint(task, NO_FIXES)).findings

    def marked(self, unit: Unit) -> list[str]:
        """The lines with findings, each with the code."""
        lines = self.text.splitlines()
        return [f"{one.code} {lines[one.span.start.row - 1].strip()}" for one in unit.findings]


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Document:
    return Document(tmp_path / "models.py", MODELS, noted_runs(monkeypatch))


ITEM, BRANCH, LIST = "EXP201 total = x.item()", "EXP101 if y.sum() > 0:", "EXP201 return x.tolist()"


@pytest.mark.parametrize(
    ("old", "new", "ran", "left", "shown"),
    [
        pytest.param(
            "y = x + 1", "y = x + x.item()", ["Layer"], ["First", "Second"],
            ["EXP201 y = x + x.item()", ITEM, BRANCH, LIST], id="a layer of which others are made",
        ),
        pytest.param(
            "y = x + 1\n", "y = x + 1\n\n        print(y)\n\n", ["Layer"], ["First", "Second"],
            ["EXP605 print(y)", ITEM, BRANCH, LIST], id="and longer than it was",
        ),
        pytest.param(
            "y.sum() > 0", "y.sum() > 1", ["Second"], [], [ITEM, "EXP101 if y.sum() > 1:", LIST],
            id="what nothing else depends on",
        ),
        pytest.param(
            "return x * 2", "return x * x.item()", ["First"], ["Second"],
            ["EXP201 return x * x.item()", ITEM, BRANCH, LIST], id="what a function does, by one of those that call it",
        ),
        pytest.param(
            "return x * 2", "return x * 3", ["First"], ["Second"], [ITEM, BRANCH, LIST],
            id="what no class is in, by all that use it",
        ),
        pytest.param(
            "total = x.item()", "total = x.sum()", ["First"], [], [BRANCH, LIST], id="what is gone",
        ),
    ],
)  # fmt: skip
def test_what_was_found_before_stands_for_what_is_not_known_yet(
    document: Document, old: str, new: str, ran: list[str], left: list[str], shown: list[str]
) -> None:
    document.edit(old, new)
    unit = document.look(patience=0)
    assert document.ran == ran
    assert unit.is_partial is bool(left)
    assert document.marked(unit) == shown
    document.ran.clear()
    assert document.look().findings == document.fresh
    assert document.ran == [*left, "Layer", "First", "Second", "Apart"]  # those of the fresh run too


def test_one_key_after_another_loses_nothing(document: Document) -> None:
    """Edits that come faster than all classes can be run: each shows what it concerns itself."""
    for typed in ("x.i", "x.ite", "x.item", "x.item()"):
        before = "x + 1" if typed == "x.i" else document.text.split("y = ")[1].splitlines()[0]
        document.edit(f"y = {before}", f"y = {typed}")
        unit = document.look(patience=0)
        assert document.ran == ["Layer"]
        assert {ITEM, LIST} <= {*document.marked(unit)}
    assert "EXP201 y = x.item()" in document.marked(unit)
    assert document.look().findings == document.fresh


def test_the_server_shows_both_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyzer, "PATIENCE", 0)
    path = tmp_path / "models.py"
    shown: list[list[str]] = []

    class Showing(InProcess):
        def _deliver(self, outcomes: object) -> None:
            assert isinstance(outcomes, dict)
            shown.extend([finding.code for finding in one.findings] for one in outcomes.values())
            super()._deliver(outcomes)

    async def run() -> None:
        server = Showing(tmp_path)
        try:
            server.hold({path: MODELS})
            await server.shown(path)
            shown.clear()
            server.hold({path: MODELS.replace("y = x + 1", "y = 3", 1)})
            await server.shown(path)
        finally:
            server.stop()

    asyncio.run(run())
    assert shown == [["EXP201", "EXP101", "EXP201"], ["EXP201", "EXP201"]]


@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 15), *(pytest.param(seed, 50, marks=pytest.mark.thorough) for seed in range(1, 13))],
)
def test_in_the_end_a_server_shows_what_a_new_one_shows(
    seed: int, count: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyzer, "PATIENCE", 0)
    rng = random.Random(seed)
    walk = Walk(root, project(root, rng), rng, around=True, asked=3)
    for found in asyncio.run(walk.differences(count)):
        pytest.fail(f"seed {seed}: {found}")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 9))])
def test_what_is_shown_was_found_before_or_will_be(seed: int, document: Document) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        before = {*document.marked(document.look())}
        new = edited(document.text, [], rng)
        if not parses(new):
            continue
        document.edit(document.text, new)
        now = {*document.marked(document.look(patience=0))}
        after = {*document.marked(document.look())}
        assert now <= before | after, document.text


def test_what_was_shown_once_is_shown_again_before_any_class_is_run(document: Document) -> None:
    document.edit("y = x + 1", "y = x + x.item()")
    first = document.look(patience=0)
    assert first.is_partial
    assert document.ran == ["Layer"]
    known = document.text
    document.edit("x.item()", "x.item(")  # it does not parse, so the server shows what it knows of the text before
    document.edit("x.item(", "x.item()")
    assert document.text == known
    again = document.look(patience=0)
    assert again.is_partial
    assert document.ran == []
    assert again.findings == first.findings
    assert again.reads == first.reads
    assert document.look().findings == document.fresh
