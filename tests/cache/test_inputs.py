"""What a result is said to depend on is all that it depends on: nothing is read or listed that nobody notes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.config import Configuration
from exportlint.syntax.inputs import Inputs
from exportlint.units import Task
from exportlint.workspace import Workspace
from tests.cli.runner import write
from tests.cli.test_cache_edits import FILES
from tests.patience import PATIENCE

MORE = {
    "net/helper.pyi": "def pick(x) -> bool: ...\n",
    "net/stars.py": "from .layers import *\nfrom .helper import *\n\n\n"
    "def use(x):\n    return scale(x) if pick(x) else x\n",
    "net/user.py": "import torch\nfrom .stars import use\nfrom . import broken\n\n\nclass User(torch.nn.Module):\n"
    "    def forward(self, x):\n        return use(x)\n",
    "net/broken.py": "def f(:\n",
    "src/tool/__init__.py": "from tool.inner import go\n",
    "src/tool/inner.py": "import elsewhere\n\n\ndef go(x):\n    return x.item()\n",
    "book.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": ["from tool import go\n"]}], "nbformat": 4}),
    "script.py": "import tool\nimport torch\n\n\nclass Script(torch.nn.Module):\n    def forward(self, x):\n"
    "        return tool.go(x)\n\n\ntorch.export.export(Script(), (torch.ones(2),))\n",
}

SCRIPT = """
import os, sys
from pathlib import Path
from exportlint.config import Configuration
from exportlint.syntax.import_resolver import Resolver
from exportlint.units import Task
from exportlint.workspace import Workspace

root = os.getcwd() + "/"
noted = None

def note(event, arguments):
    if noted is not None and event in ("open", "os.listdir", "os.scandir") and not isinstance(arguments[0], int):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        # CPython looks for the source of what does not parse, in a file of the name that the parser was given.
        if (path + "/").startswith(root) and "<" not in path:
            noted.add((event, path))

settings = Configuration(Path(root)).for_directory(Path(root))
workspace = Workspace({})
files = sorted(path for path in Path(root).rglob("*") if path.suffix in (".py", ".ipynb"))
for path in files:  # what does not depend on the file is loaded before
    Workspace({}).lint(Task(path, settings))
sys.addaudithook(note)
for make in (lambda: Workspace({}), lambda: workspace):
    for path in files:
        noted = set()
        inputs = make().lint(Task(path, settings)).inputs
        done, noted = noted, set()
        resolver = Resolver(tuple(map(Path, inputs.search)))
        for question in inputs.answers:
            resolver.answer(question)
        again, noted = noted, None
        forgotten = {one for one in done - again if not (one[0] == "open" and one[1] in inputs.files)}
        print(len(done), *sorted(forgotten))
"""


def test_all_that_is_read_is_noted(tmp_path: Path) -> None:
    write(tmp_path, FILES | MORE)
    (tmp_path / ".git").mkdir()
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert result.stderr == ""
    lines = [line.split(" ", 1) for line in result.stdout.splitlines()]
    assert [line[1:] for line in lines] == [[] for _ in lines]
    assert sum(int(line[0]) for line in lines) > len(lines)


@pytest.mark.parametrize("name", sorted(name for name in FILES | MORE if name.endswith(".py")))
def test_it_is_the_same_whatever_was_looked_at_before(name: str, tmp_path: Path) -> None:
    """Files that are looked at together share what was read: each depends on it all the same."""
    write(tmp_path, FILES | MORE)
    settings = Configuration(tmp_path).for_directory(tmp_path)

    def inputs(workspace: Workspace, one: str) -> Inputs:
        found = workspace.lint(Task(tmp_path / one, settings)).inputs
        assert found is not None
        return found

    alone = inputs(Workspace({}), name)
    shared = Workspace({})
    for other in sorted(FILES | MORE, reverse=True):
        if other.endswith(".py"):
            inputs(shared, other)
    for _ in range(2):
        together = inputs(shared, name)
        assert alone.files.items() <= together.files.items()
        assert alone.answers.items() <= together.answers.items()


def test_a_file_that_changes_while_it_is_looked_at_is_not_known(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    settings = Configuration(tmp_path).for_directory(tmp_path)
    workspace = Workspace({})
    task = Task(tmp_path / "net/model.py", settings)
    assert workspace.lint(task).inputs is not None
    write(tmp_path, {"net/helper.py": "def pick(x):\n    return False\n"})
    for known in (workspace._sources, workspace._shared_sources):  # as where there are too many files to be kept
        known.clear()
    for project in workspace._projects.values():
        project.trim(0)
    assert workspace.lint(task).inputs is None
    workspace.forget(tmp_path / "net/helper.py")
    assert workspace.lint(task).inputs is not None
