"""Programs that do the same are told the same, whatever their classes, names and lines look like."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.config.toml import check, parse
from exportlint.linter import Task, lint
from exportlint.pages import Block
from exportlint.workspace import Workspace
from tests.analysis import cases
from tests.catalogue import pages
from tests.metamorphic.comparison import Difference, difference
from tests.metamorphic.transformations import TRANSFORMATIONS, DoesNotApply, Variant
from tests.sampling import one_in

ROOT = Path("/nowhere")
PROJECT = Path(__file__).parents[2]

BLOCKS = [block for page in pages() for block in page.blocks if block.source.strip()]


def task_of(block: Block) -> Task:
    shapes: dict[str, object] = {} if block.dynamic else {"dynamic-dims": []}
    given = check(shapes | parse(block.settings), None) | {"torch-version": (2, 13)}
    return Task(ROOT / f"{block.name}.py", combine([Layer(ROOT, given)], ROOT), data=block.plain.encode())


TASKS: dict[str, tuple[Task, dict[Path, bytes]]] = {}
for _block in BLOCKS:
    _task = task_of(_block)
    TASKS[_block.name] = _task, {_task.path: _block.plain.encode()}
for _case in cases.cases():
    _files = {ROOT / name: text.encode() for name, text in _case.files}
    _settings = combine([Layer(ROOT, {"torch-version": (2, 13)})], ROOT)
    TASKS[_case.id] = Task(ROOT / _case.main, _settings), _files


def differences(name: str) -> list[Difference]:
    """How what is found in a file differs in its variants."""
    task, files = TASKS[name]
    workspace = Workspace(files)
    before = workspace.lint(task).findings
    found = []
    for transformation, transform in {**TRANSFORMATIONS, "repeated": Variant}.items():
        with contextlib.suppress(DoesNotApply):
            found.append(difference(task, transformation, transform, workspace, before))
    return [one for one in found if one is not None]


NOT_YET = {
    "modules-that-hold-modules-of-their-class-2": "a helper that recursive methods call counts as recursion",
    "what-`finally`-puts-back-behind-a-`return`-1": "a method that binds an attribute has to ask for its default",
}
"""Cases that a transformation changes, by the ends of their names, and why."""


@pytest.mark.parametrize("name", one_in(140, TASKS))
def test_files_that_do_the_same_are_told_the_same(name: str, request: pytest.FixtureRequest) -> None:
    for end, reason in NOT_YET.items():
        if name.endswith(end):
            request.node.add_marker(pytest.mark.xfail(strict=True, reason=reason))
    assert not differences(name), "\n".join(map(str, differences(name)))


@pytest.mark.thorough
def test_every_transformation_has_something_to_do() -> None:
    applied = Counter[str]()
    for task, files in list(TASKS.values())[::7]:
        for name, transform in TRANSFORMATIONS.items():
            try:
                variant = transform(files[task.path].decode())
            except DoesNotApply:
                continue
            assert variant.text.encode() != files[task.path]
            applied[name] += 1
    assert applied.keys() == TRANSFORMATIONS.keys(), TRANSFORMATIONS.keys() - applied.keys()


PROGRAM = '''\
"""Text."""
import functools


class Base:
    """A class."""

    scale = 3

    def __init__(self, start):
        self.start = start

    def grow(self, by, *, times=2):
        "More."
        total = self.start
        for step in range(times):
            total += by * step + self.start
        text = f"{total=} {self.start}"
        try:
            share = total / (by - 3)
        except ZeroDivisionError as error:
            share = type(error).__name__
        later = [lambda: total, lambda: step]
        return text, share, [f() for f in later], self.helper(total)

    def helper(self, value):
        return [value + item for item in range(3) if item != self.scale]


class Child(Base):
    def helper(self, value):
        inner = super().helper(value)
        known = {k: v * 2 for k, v in enumerate(inner)}
        return known, Other(value)


class Other:
    def __init__(self, value):
        self.value = value
        self.shown = "é" if value > 0 else "-"

    def __repr__(self):
        unit = self.shown
        return f"Other({self.value}{unit})"


@functools.lru_cache
def count(n):
    if n < 2:
        return n
    before = count(n - 1)
    last = before + count(n - 2)
    return last


def deleted(n):
    value = n + 1
    other = value * 2; del value
    return other


RESULT = repr((Child(2).grow(3), Base(1).grow(by=2, times=4), count(10), deleted(2)))
'''


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations_keep_what_a_program_does(name: str) -> None:
    pytest.importorskip("torch")  # a class that is put in derives from its modules
    expected: dict[str, object] = {}
    exec(PROGRAM, expected)
    found: dict[str, object] = {"__name__": "variant"}
    variant = TRANSFORMATIONS[name](PROGRAM)
    assert variant.text != PROGRAM
    exec(variant.text.encode(), found)
    assert variant.original(str(found["RESULT"])) == expected["RESULT"]


NEEDED = """\
class A:
    def f(self):
        return B()


class B(A):
    pass


@print
class C:
    part = B


class D:
    pass
"""


def test_a_class_stays_behind_what_it_needs() -> None:
    names = [
        line.split("(")[0]
        for line in TRANSFORMATIONS["classes-reversed"](NEEDED).text.splitlines()
        if line[:6] == "class "
    ]
    assert [name.removeprefix("class ").rstrip(":") for name in names] == ["D", "A", "B", "C"]


STATE = """\
import torch
from torch import nn


class Sub(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = False

    def forward(self, x):
        return x


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Sub()

    def forward(self, x):
        self.sub.gate = x.sum() > 0
        return self.sub(x)


class Second(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Sub()

    def forward(self, x):
        if self.sub.gate:
            return x
        return -x
"""


def test_what_one_class_writes_is_not_seen_by_another() -> None:
    text = STATE.encode()
    task = Task(ROOT / "model.py", combine([Layer(ROOT, {})], ROOT))
    workspace = Workspace({task.path: text})
    before = workspace.lint(task).findings
    assert difference(task, "classes-reversed", TRANSFORMATIONS["classes-reversed"], workspace, before) is None


ONE_HELPER = """
import torch
from torch import nn


def masked(scores, mask, is_causal):
    if is_causal:
        return scores
    return scores + mask if mask.dtype == torch.bool else scores


class First(nn.Module):
    def forward(self, x, mask: torch.Tensor | None = None, is_causal: bool = False):
        return x if mask is None else masked(x, mask, is_causal)


class Second(nn.Module):
    def forward(self, x, rope: torch.Tensor | None = None, mask: torch.Tensor | None = None, is_causal: bool = False):
        x = x.flatten(1) if rope is None else x.flatten(1) * rope
        return x if mask is None else masked(x, mask, is_causal)
"""


def test_what_leads_to_a_finding_counts_in_each_class() -> None:
    task = Task(ROOT / "model.py", combine([Layer(ROOT, {})], ROOT))
    workspace = Workspace({task.path: ONE_HELPER.encode()})
    before = workspace.lint(task).findings
    infos = [finding.message for finding in before if finding.code == "EXP703"]
    baked = "`rope` (given or None), `mask` (given or None), `is_causal` (bool)"
    assert infos == [
        f"the exported program accepts {baked} only as in the example inputs",
    ]  # that of `First` starts at `mask`, from which EXP506 follows
    assert difference(task, "classes-reversed", TRANSFORMATIONS["classes-reversed"], workspace, before) is None


# --- circumstances


def files(directory: Path) -> list[Task]:
    tasks = []
    for block in BLOCKS[::60]:
        path = directory / f"{block.name}.py"
        path.write_text(block.plain, encoding="utf-8", newline="")
        tasks.append(Task(path, combine([Layer(directory, {})], directory)))
    return tasks


def test_the_number_of_processes_and_the_order_of_files_do_not_matter(tmp_path: Path) -> None:
    tasks = files(tmp_path)
    found = lint(tasks, 1).findings
    assert found
    assert lint(tasks, 2).findings == found
    assert lint(tasks[::-1], 1).findings == found


def test_the_seed_of_hashes_does_not_matter(tmp_path: Path) -> None:
    files(tmp_path)
    command = [sys.executable, "-m", "exportlint", "--output-format", "json", "--exit-zero", str(tmp_path)]
    reports = []
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=PROJECT, check=False)
        reports.append(done.stdout)
    assert json.loads(reports[0])
    assert len(set(reports)) == 1


# --- the command


def metamorphic(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROJECT / "scripts/metamorphic.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_says_what_applied(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(STATE.replace("self.sub.gate = x.sum() > 0", "pass"), encoding="utf-8")
    done = metamorphic(str(tmp_path), "--transform", "classes-reversed", "--transform", "crlf")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "1 file", "classes-reversed: applied 1, differs 0", "crlf: applied 1, differs 0",
    ]  # fmt: skip


def test_the_command_names_what_does_not_exist(tmp_path: Path) -> None:
    done = metamorphic(str(tmp_path / "nothing"))
    assert done.returncode == 2
    assert done.stderr == f"metamorphic.py: no such file or directory: {tmp_path / 'nothing'}\n"


def test_the_command_takes_a_part_of_the_files(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text("import torch\n", encoding="utf-8")
    crlf = (str(tmp_path), "--transform", "crlf")
    first_lines = [metamorphic(*crlf, "--part", part).stdout.splitlines()[0] for part in ("1/2", "2/2")]
    assert first_lines == ["1 file", "2 files"]
    assert "expected K/N with K from 1 to N, got 3/2" in metamorphic(*crlf, "--part", "3/2").stderr
