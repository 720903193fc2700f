"""What a module binds to a name is one value, whoever asks for it first, until a file changes that it depends on."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.syntax.definitions import Module
from exportlint.workspace import Task, Workspace

STATE = "seen = []\nlimit = {limit}\n"
WRITER = "from state import seen\n\ndef note(x):\n    seen.append(x)\n"
IMPORTS = "from torch import nn\nimport state\nfrom state import limit, seen\nfrom writer import note\n\n"
MODEL = "class Net(nn.Module):\n    def forward(self, x):\n{body}        return x\n"
BRANCH = "return x if x.sum() > 0 else -x"

BODIES = {
    "one list for all importers": (f"        note(1)\n        if not seen:\n            {BRANCH}\n", []),
    "and by the module's name": (f"        note(1)\n        if not state.seen:\n            {BRANCH}\n", []),
    "empty before": (f"        if not seen:\n            {BRANCH}\n", ["EXP101"]),
    "a number": (f"        if limit == 2:\n            {BRANCH}\n", ["EXP101"]),
    "another number": (f"        if limit == 3:\n            {BRANCH}\n", []),
}


def project(path: Path, models: dict[str, str], limit: int = 2) -> Workspace:
    """A project of some models and the two files that they import."""
    path.joinpath("state.py").write_text(STATE.format(limit=limit))
    path.joinpath("writer.py").write_text(WRITER)
    for name, body in models.items():
        path.joinpath(f"{name}.py").write_text(IMPORTS + MODEL.format(body=body))
    return Workspace({})


def codes(workspace: Workspace, path: Path) -> list[str]:
    settings = combine([Layer(path.parent, {"torch-version": (2, 13)})], path.parent)
    return [f.code for f in workspace.lint(Task(path, settings, path.name)).findings if f.severity != "info"]


@pytest.mark.parametrize("name", BODIES)
def test_importers_share_what_a_module_binds(tmp_path: Path, name: str) -> None:
    body, expected = BODIES[name]
    assert codes(project(tmp_path, {"model": body}), tmp_path / "model.py") == expected


def test_the_order_of_files_does_not_matter(tmp_path: Path) -> None:
    models = {f"model{i}": body for i, (body, _) in enumerate(BODIES.values())}
    expected = {f"model{i}": found for i, (_, found) in enumerate(BODIES.values())}
    for names in (list(models), list(reversed(models))):
        workspace = project(tmp_path, models)
        assert {name: codes(workspace, tmp_path / f"{name}.py") for name in names} == expected


def test_a_changed_file_is_evaluated_again(tmp_path: Path) -> None:
    workspace = project(tmp_path, {"model": BODIES["a number"][0]})
    assert codes(workspace, tmp_path / "model.py") == ["EXP101"]
    workspace.hold(tmp_path / "state.py", STATE.format(limit=3).encode())
    assert codes(workspace, tmp_path / "model.py") == []
    workspace.hold(tmp_path / "state.py", STATE.format(limit=2).encode())
    assert codes(workspace, tmp_path / "model.py") == ["EXP101"]


@pytest.mark.thorough
def test_versions_of_a_file_are_let_go(tmp_path: Path) -> None:
    workspace = project(tmp_path, {})
    path = tmp_path / "model.py"
    shared = "seen_here = list(seen)\nfound = limit + len(seen_here)\n\n"
    alive = []
    for value in range(24):
        body = f"        if found == {value} or not seen_here:\n            {BRANCH}\n"
        workspace.hold(path, (IMPORTS + shared + MODEL.format(body=body)).encode())
        assert codes(workspace, path) == ["EXP101"]
        gc.collect()
        alive.append(sum(isinstance(one, Module) and one.path == path for one in gc.get_objects()))
    assert alive[-1] <= alive[11]


def test_where_a_long_chain_of_names_is_entered_does_not_matter(tmp_path: Path) -> None:
    chain = "v0 = 2\n" + "".join(f"v{i} = v{i - 1}\n" for i in range(1, 700))
    names = ["v699", "v200", "v650", "v20"]
    for order in (names, list(reversed(names))):
        classes = (
            f"class {name.title()}(nn.Module):\n    def forward(self, x):\n"
            f"        if {name} == 3:\n            {BRANCH}\n        return x\n"
            for name in order
        )
        (tmp_path / "model.py").write_text("from torch import nn\n\n" + chain + "\n\n" + "\n\n".join(classes))
        settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
        findings = Workspace({}).lint(Task(tmp_path / "model.py", settings, "model.py")).findings
        found = {(f.code, f.symbol.partition(".")[0]) for f in findings}
        assert found == {("EXP006", "V650"), ("EXP006", "V699"), ("EXP101", "V650"), ("EXP101", "V699")}
