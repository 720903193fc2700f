"""After an edit, a workspace that keeps results says what a new one says, and runs only what the edit concerns."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from exportlint.analysis.custom_op_definitions import FAKE_METHODS
from exportlint.analysis.project import SupersededError
from exportlint.big_stack import on_big_stack
from exportlint.config.settings import combine
from exportlint.pages import Page
from exportlint.syntax.chunks import AMBIENT
from exportlint.workspace import NO_FIXES, Task, Workspace
from tests.documents import PROJECT
from tests.incremental.runs import noted_runs
from tests.sampling import one_in
from tests.server.models import model

HELPERS = """
import torch
from torch import nn
from shared import *


class Block(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return flip(x)


class Other(nn.Module):
    def forward(self, x):
        return x.item()


def flip(x):
    print(x)
    return -x


def size(x):
    return x.shape[0]
"""
SHARED = """
LIMIT = 3


def clip(x):
    return x if x.max() < LIMIT else x / 2
"""
MODEL = """
import torch
from torch import nn

import helpers
from helpers import Block


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x, flag: bool = False):
        y = self.block(x)
        if flag:
            y = helpers.flip(y)
        return helpers.clip(y)


class Named(nn.Module):
    def forward(self, x):
        found = getattr(helpers, "si" + "ze")(x)
        if found == 3:
            return x
        return -x


class Apart(nn.Module):
    def forward(self, x):
        return x.tolist()
"""
FILES = {"shared.py": SHARED, "helpers.py": HELPERS, "model.py": MODEL}
LINES = (
    "        x = x + 1\n", "        x.item()\n", "        if x.sum() > 0: pass\n", "\n", "# text\n", "    pass\n",
    "x = 1\n", "x = 1; y = 2\n", "        self.count = x\n", "from torch import *\n", "@torch.no_grad()\n",
    "def flip(x):\n    return x.item()\n", "Block = None\n", "torch.export.export(Net(), (torch.ones(2),))\n",
    "class Block(nn.Module):\n    def forward(self, x):\n        return x if x.max() > 0 else -x\n\n",
)  # fmt: skip


def task(path: Path, text: str) -> Task:
    return Task(path, combine([], path.parent), data=text.encode())


def fresh(texts: dict[Path, str], path: Path) -> object:
    return said(Workspace({other: text.encode() for other, text in texts.items()}), texts, path)


def said(workspace: Workspace, texts: dict[Path, str], path: Path) -> object:
    unit = on_big_stack(lambda: workspace.lint(task(path, texts[path]), NO_FIXES))
    return unit.findings, unit.suppressions, unit.exported, workspace.classes(task(path, texts[path]))


def edited(text: str, rng: random.Random) -> str:
    """The text after an edit that can still be parsed, as far as one is found."""
    for _ in range(100):
        lines = text.splitlines(keepends=True) or ["\n"]
        at, kind = rng.randrange(len(lines)), rng.random()
        if kind < 0.3:
            lines.insert(at, rng.choice(LINES))
        elif kind < 0.45:
            del lines[at : at + rng.choice((1, 1, 4))]
        elif kind < 0.55:
            lines.insert(at, rng.choice(lines))
        elif kind < 0.9:
            words = re.findall(r"[^\W\d]\w*", lines[at])
            if words:
                lines[at] = lines[at].replace(rng.choice(words), rng.choice(re.findall(r"[^\W\d]\w*", text)), 1)
        else:
            column = rng.randrange(len(lines[at]))
            lines[at] = lines[at][:column] + rng.choice("x1 .()+") + lines[at][column:]
        new = "".join(lines)
        try:
            ast.parse(new)
        except (SyntaxError, ValueError):
            continue
        if new != text:
            return new
    return text


def project(root: Path) -> dict[Path, str]:
    """Files that import each other, also on the disk, where imports are looked for."""
    texts = {root / name: text for name, text in FILES.items()}
    for path, text in texts.items():
        path.write_text(text)
    return texts


def projects(root: Path) -> Iterator[dict[Path, str]]:
    yield project(root)
    yield {root / "model.py": model(250)}
    for page in sorted((PROJECT / "rules").glob("EXP*.md")):
        for block in Page(page.stem, page.read_text(encoding="utf-8")).blocks:
            if block.kind == "bad":
                yield {root / "page.py": block.plain}


def edits_agree(root: Path, seed: int, count: int) -> None:
    rng, known = random.Random(seed), list(projects(root))
    for number in range(max(1, count // 25)):
        texts = dict(known[number] if number < 2 else rng.choice(known))
        workspace = Workspace({path: text.encode() for path, text in texts.items()}, keeps_results=True)
        for path in texts:
            said(workspace, texts, path)
        for _ in range(min(count, 25)):
            path = rng.choice(list(texts))
            before = texts[path]
            texts[path] = edited(before, rng)
            workspace.hold(path, texts[path].encode())
            path.write_text(texts[path])
            for other in texts:
                shown = "\n".join((f"seed {seed}", str(path), before, "became", texts[path]))
                assert said(workspace, texts, other) == fresh(texts, other), shown


def test_random_edits_give_what_a_new_run_gives(tmp_path: Path) -> None:
    edits_agree(tmp_path, 14, 25)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_random_edits_give_what_a_new_run_gives(tmp_path: Path, seed: int) -> None:
    edits_agree(tmp_path, seed, 100)


@pytest.mark.parametrize("page", one_in(12, sorted((PROJECT / "rules").glob("EXP*.md"))), ids=lambda page: page.stem)
def test_from_block_to_block_of_a_page_what_is_said_is_what_a_new_run_says(page: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.py"
    texts: dict[Path, str] = {}
    workspace = Workspace({}, keeps_results=True)
    blocks = Page(page.stem, page.read_text(encoding="utf-8")).blocks
    for block in sorted(blocks, key=lambda block: (block.label, block.kind)):  # the bad ones before the fixed ones
        texts[path] = block.plain
        workspace.hold(path, block.plain.encode())
        assert said(workspace, texts, path) == fresh(texts, path), f"{page.name}:{block.row}"


def test_a_class_that_shadows_its_base_is_no_crash(tmp_path: Path) -> None:
    texts = {
        tmp_path
        / "model.py": "from torch import nn\n\n\nclass nn(nn.Module):\n    def forward(self, x):\n        return x\n"
    }
    workspace = Workspace({path: text.encode() for path, text in texts.items()}, keeps_results=True)
    for path in texts:
        assert said(workspace, texts, path) == fresh(texts, path)


def test_each_name_by_which_operators_are_registered_is_ambient() -> None:
    assert FAKE_METHODS <= AMBIENT


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The classes whose entry points are run."""
    return noted_runs(monkeypatch)


@pytest.mark.parametrize(
    ("file", "old", "new", "concerned"),
    [
        ("model.py", "x.tolist()", "x.item()", ["Apart"]),
        ("model.py", "import torch\n", "\n\nimport torch\n", []),
        ("model.py", "return x.tolist()", "# text\n        return x.tolist()", ["Apart"]),
        ("model.py", "\n\nclass Apart", "\n\nUNUSED = 1\n\n\nclass Apart", []),
        ("model.py", "\n\nclass Apart", "\n\nclass New:\n    pass\n\n\nclass Apart", ["New"]),
        ("model.py", "from helpers import Block", "from helpers import Other as Block", ["Net"]),
        ("helpers.py", "print(x)", "x.item()", ["Net"]),
        ("helpers.py", "x.item()", "x.tolist()", []),
        ("helpers.py", "return x.shape[0]", "return int(x.sum())", ["Net", "Named", "Apart"]),
        ("helpers.py", "def flip", "def flop", ["Net"]),
        ("shared.py", "LIMIT = 3", "LIMIT = 'text'", ["Net"]),
        ("shared.py", "LIMIT = 3", "LIMIT = 3\nflip = None", ["Net"]),
    ],
)
def test_an_edit_runs_the_classes_that_it_concerns(
    ran: list[str], tmp_path: Path, file: str, old: str, new: str, concerned: list[str]
) -> None:
    texts, model_file = project(tmp_path), tmp_path / "model.py"
    workspace = Workspace({path: text.encode() for path, text in texts.items()}, keeps_results=True)
    said(workspace, texts, model_file)
    assert old in texts[tmp_path / file]
    texts[tmp_path / file] = texts[tmp_path / file].replace(old, new, 1)
    workspace.hold(tmp_path / file, texts[tmp_path / file].encode())
    ran.clear()
    found = said(workspace, texts, model_file)
    assert list(dict.fromkeys(ran)) == [name for name in concerned if name != "New"]
    assert found == fresh(texts, model_file)


def test_an_edit_during_the_first_run_loses_no_class(ran: list[str], tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    texts = {path: model(1_000)}
    waiting = [5, 5, 5]

    def proceed() -> None:
        if waiting and len(set(ran)) > waiting[0]:
            raise SupersededError

    workspace = Workspace({path: texts[path].encode()}, proceed, keeps_results=True)
    done: list[str] = []
    while waiting:
        with pytest.raises(SupersededError):
            said(workspace, texts, path)
        done += ran[:-1]  # the last one was running
        texts[path] = texts[path].replace("\n\n\nclass", "\n\n\n# edited\nclass", 1)
        workspace.hold(path, texts[path].encode())
        ran.clear()
        waiting.pop()
    found = said(workspace, texts, path)
    assert len(done) == len(set(done)) == 15
    assert set(done).isdisjoint(ran)
    assert found == fresh(texts, path)


def test_a_class_costs_the_same_in_a_long_file(ran: list[str], tmp_path: Path) -> None:
    counts = []
    path = tmp_path / "model.py"
    for lines in (150, 1_500):
        texts = {path: model(lines)}
        workspace = Workspace({path: texts[path].encode()}, keeps_results=True)
        said(workspace, texts, path)
        at = texts[path].index("hidden = self.wide(states)", len(texts[path]) // 2)
        texts[path] = f"{texts[path][:at]}gate = states\n        {texts[path][at:]}"
        workspace.hold(path, texts[path].encode())
        ran.clear()
        said(workspace, texts, path)
        counts.append(len(ran))
    assert counts[0] == counts[1]
