"""`exportlint verify --calls`, where a call of torch.export meets several models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.verify.worker.again import LeftError, way_to_the_same_call
from exportlint.verify.worker.rows import tracing
from tests.forking import python

WAYS = {
    "once": ("met()", [None]),
    "a loop": ("for n in range(2):\n    met()\n    n += 1", [(1, 3), (1, 3)]),
    "what a loop goes over": ("for n in [met()]:\n    n", [None]),
    "the end of a loop": ("for n in range(2):\n    n\nelse:\n    met()", [None]),
    "the condition of a loop": ("while met():\n    pass", [(1, 2)]),
    "loops in each other": ("for n in [1]:\n    for m in [1]:\n        met()\n    n += 1", [(1, 4)]),
    "a comprehension": ("found = [met() for n in range(2)]", [(1, 1), (1, 1)]),
    "beside a comprehension": ("found = [met(), [n for n in range(2)]]", [None]),
    "what a comprehension goes over": ("found = [n for n in [met()]]", [None]),
    "a function in a loop": ("def make():\n    met()\nfor n in [1]:\n    make()", [(3, 4)]),
    "a function that is called later": ("def make():\n    met()\nmake()\n1\nmake()", [(3, 5), None]),
    "a function that is called in another one": ("def make():\n    met()\ndef other():\n    make()\nmake()", [None]),
    "a loop around a definition": ("for n in [1]:\n    def make():\n        met()\nmake()", [None]),
}
"""Scripts, and the rows from which the call of `met` may be met again, each time that it is."""


@pytest.mark.parametrize("case", WAYS)
def test_a_script_comes_again_to_a_call_in_loops_and_functions(case: str, tmp_path: Path) -> None:
    code, ways = WAYS[case]
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    found: list[tuple[int, int] | None] = []

    def met() -> None:
        way = way_to_the_same_call(sys._getframe(1))
        found.append(None if way is None else (way.rows[0], way.rows[-1]))

    exec(compile(code, str(tmp_path / "script.py"), "exec"), {"met": met})

    assert found == ways


@pytest.mark.parametrize(
    "code", ["for n in range(3):\n    met()\nlater()", "def make():\n    for n in [1]:\n        met()\nmake()\nlater()"]
)
def test_a_script_ends_where_it_has_left_the_loop(code: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    reached: list[str] = []

    def met() -> None:
        reached.append("met")
        with tracing(None):
            pass
        way = way_to_the_same_call(sys._getframe(1))
        assert way is not None
        way.end_behind()

    before = sys.gettrace()
    names = {"met": met, "later": lambda: reached.append("later")}
    try:
        with pytest.raises(LeftError):
            exec(compile(code, str(tmp_path / "script.py"), "exec"), names)
    finally:
        sys.settrace(before)
    assert set(reached) == {"met"}


SCRIPT = """\
from pathlib import Path

import torch
from torch import nn
from torch.export import export


class Times(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x * self.n


class Gate(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x * self.n if x.sum() > 0 else x


X = torch.ones(2, 3)
for model in [Times(2), Gate(2), Times(3)]:
    program = export(model, (X,))
    print(program.graph)
programs = [export(model, (X,), strict=True) for model in [Times(2), Times(3)]]
if __name__ == "__main__":
    Path("behind").touch()
"""
MODELS = {
    "script:28": "exports",
    "script:28, model 2": "fails",
    "script:28, model 3": "exports",
    "script:30": "exports",
    "script:30, model 2": "exports",
}


@pytest.mark.thorough
def test_each_model_of_a_call_is_a_target(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [*python(), "-m", "exportlint", "verify", "--no-cache", "--python", sys.executable, "--calls"]
    done = subprocess.run(
        [*command, "--output-format", "json", "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    report = json.loads(done.stdout)
    of_calls = [run for run in report["runs"] if run["target"].startswith(("script:28", "script:30"))]
    assert {run["target"]: run["verdict"] for run in of_calls} == MODELS
    assert {run["mode"] for run in of_calls if run["target"].startswith("script:30")} == {"strict"}
    assert MODELS.keys() <= {target["name"] for target in report["targets"]}
    row = SCRIPT.splitlines().index("        return x * self.n if x.sum() > 0 else x") + 1
    assert [(f["code"], f["verdict"]) for f in report["findings"] if f["location"]["row"] == row] == [
        ("EXP101", "confirmed")
    ]
    assert not (tmp_path / "behind").exists()
