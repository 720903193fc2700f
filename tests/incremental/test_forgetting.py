"""What is parsed for files that nobody touches is forgotten, and their results stay what they are."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from exportlint import workspace as workspace_module
from exportlint.analysis import analyze
from exportlint.analysis.eval.engine import Engine
from exportlint.config import Configuration
from exportlint.syntax.definitions import Class, Module
from exportlint.workspace import NO_FIXES, Task, Workspace
from tests.cli.runner import write

HELPER = "import torch\n\n\ndef pick{n}(x):\n    return x.sum() > {n}\n"
MODEL = (
    "import torch\nfrom helper{n} import pick{n}\n\n\nclass One(torch.nn.Module):\n    def forward(self, x):\n"
    "        return x if pick{n}(x) else -x\n\n\nclass Two(torch.nn.Module):\n    def forward(self, x):\n"
    "        return x.item()\n"
)
COUNT = 8
EDITS = ("x.item()", "x.tolist()", "x.item() + 1")


@pytest.fixture
def files(tmp_path: Path) -> dict[Path, str]:
    """Models, each with a helper of its own."""
    write(tmp_path, {f"helper{n}.py": HELPER.format(n=n) for n in range(COUNT)})
    return {tmp_path / f"model{n}.py": MODEL.format(n=n) for n in range(COUNT)}


@pytest.mark.parametrize("room", [0, 2, COUNT])
def test_only_so_much_stays_parsed(room: int, files: dict[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(MODEL) + len(HELPER)
    monkeypatch.setattr(workspace_module, "MAX_PARSED", room * size)
    settings = Configuration(next(iter(files)).parent, isolated=True)
    held = {path: text.encode() for path, text in files.items()}
    kept = Workspace(held, keeps_results=True)
    gc.collect()
    before = sum(isinstance(one, Module) for one in gc.get_objects())
    for edit in EDITS:
        for path, text in files.items():
            held[path] = text.replace("x.item()", edit).encode()
            kept.see(held)
            task = Task(path, settings.for_file(path), data=held[path])
            found = kept.lint(task, NO_FIXES)
            fresh = Workspace(held).lint(task, NO_FIXES)
            assert found.findings == fresh.findings
            assert found.reads == fresh.reads
            assert kept.classes(task) == Workspace(held).classes(task)
            assert len(found.findings) == 2
    del fresh
    gc.collect()
    parsed = sum(isinstance(one, Module) for one in gc.get_objects()) - before
    assert parsed <= 2 * max(1, room) + 2
    assert room < COUNT or parsed == 2 * COUNT


def test_the_file_in_hand_keeps_its_classes_whatever_it_needs(
    files: dict[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_module, "MAX_PARSED", 0)
    ran: list[str] = []
    export = analyze._export

    def noted(engine: Engine, cls: Class, name: str) -> None:
        ran.append(cls.qualname)
        export(engine, cls, name)

    monkeypatch.setattr(analyze, "_export", noted)
    path, text = next(iter(files.items()))
    settings = Configuration(path.parent, isolated=True)
    kept = Workspace({}, keeps_results=True)
    for version in range(3):
        data = text.replace("x.item()", f"x.item() + {version}").encode()
        kept.see({path: data})
        ran.clear()
        kept.lint(Task(path, settings.for_file(path), data=data), NO_FIXES)
        assert ran == (["One", "Two"] if version == 0 else ["Two"])
