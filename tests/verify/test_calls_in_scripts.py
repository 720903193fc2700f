"""`exportlint verify --calls`: what a script calls torch.export with, in the state that the script is in then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.thorough

pytest.importorskip("torch")

SCRIPT = """\
import sys

import torch
from torch import nn

SCALE = 2.0


class Global(nn.Module):
    def forward(self, x):
        return x * sys.modules["__main__"].SCALE


class Typed(nn.Module):
    def forward(self, x):
        return x * 2 if type(x) is torch.Tensor else x * 5


class Detached(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        assert not torch.is_grad_enabled()
        return x * self.scale


torch.export.export(Global(), (torch.ones(2, 3),))
torch.export.export(Typed(), (torch.ones(2, 3),), strict=True)
torch.export.export(Typed(), (torch.ones(2, 3),), strict=False)
with torch.no_grad():
    torch.export.export(Detached(), (torch.ones(2, 3),))
"""


REFUSED = """\
import torch
from torch import nn
from torch.export import Dim, export

first = Dim("first")
second = Dim("second")
width = Dim("width", max=96)
same = Dim("same")


class Add(nn.Module):
    def forward(self, x, y):
        return x + y


class Fourths(nn.Module):
    def forward(self, x):
        return x.view(x.shape[0], -1, 4).sum(1)


class Two(nn.Module):
    def __init__(self, times):  # so it is verified by the call alone
        super().__init__()
        self.times = times

    def forward(self, x):
        return x * self.times if x.shape[0] == 2 else x


X = torch.ones(2, 8)
"""

CALLS = {
    "equal": "export(Add(), (X, X + 1), dynamic_shapes={'x': {0: first}, 'y': {0: second}})",
    "derived": "export(Fourths(), (X,), dynamic_shapes={'x': {1: width}}, strict=True)",
    "sized": "export(Two(3), (X,), dynamic_shapes={'x': {0: first}})",
    "list": "export(Add(), [X, X])",
    "missing": "export(Add(), (X,))",
    "unknown": "export(Add(), (X, X), dynamic_shapes={'z': {0: same}})",
    "function": "export(lambda x: x, (X,))",
    "one": "export(Add(), (torch.ones(1, 3), torch.ones(1, 3)), dynamic_shapes={'x': {0: same}, 'y': {0: same}})",
}
DEFINITIONS = REFUSED
REFUSED += "".join(f"try:\n    {call}\nexcept Exception:\n    pass\n" for call in list(CALLS.values())[:-1])
REFUSED += CALLS["one"] + "\n"  # what the linter knows to raise is not expected inside of `try`
ROWS = {name: [line.strip() for line in REFUSED.splitlines()].index(call) + 1 for name, call in CALLS.items()}


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The whole report on calls that torch refuses."""
    root = tmp_path_factory.mktemp("refused")
    (root / "script.py").write_text(REFUSED, encoding="utf-8")
    (root / "pyproject.toml").touch()
    return _report(root)


@pytest.mark.parametrize(
    ("case", "code", "said"),
    [
        ("equal", "missed", "must always be equal; torch suggests `second = first`"),
        ("derived", "missed", "torch suggests `_width = Dim('_width', min=1, max=24)`, `width = 4*_width`"),
        ("one", "EXP805", "Constraints violated (same): You marked same as dynamic"),
        ("list", "EXP802", "Expecting `args` to be a tuple"),
        ("missing", "EXP802", "missing a required argument: 'y'"),
        ("unknown", "EXP811", "top-level keys must be the arg names"),
        ("function", "EXP801", "Expected `mod` to be an instance of `torch.nn.Module`"),
    ],
)
def test_what_torch_refuses_of_a_call_is_at_its_line(case: str, code: str, said: str, refused: dict[str, Any]) -> None:
    row = ROWS[case]
    run = next(run for run in refused["runs"] if run["target"] == f"script:{row}")
    assert run["verdict"] == "fails"
    assert said in run["reason"] or said in run["failures"][0]["message"]
    (finding,) = (
        found
        for found in refused["findings"]
        if found["location"]["row"] == row and found["verdict"] in ("confirmed", "missed")
    )
    assert finding["code"] == code
    assert said in finding["why"]


def test_a_size_that_torch_cannot_vary_confirms_what_is_found_of_that_size(refused: dict[str, Any]) -> None:
    row = REFUSED.splitlines().index("        return x * self.times if x.shape[0] == 2 else x") + 1
    (finding,) = (f for f in refused["findings"] if f["location"]["row"] == row and f["code"] != "missed")
    assert (finding["code"], finding["verdict"]) == ("EXP401", "confirmed")
    assert refused["runs"][finding["run"]]["target"] == f"script:{ROWS['sized']}"


@pytest.mark.parametrize(
    ("case", "row", "text"),
    [
        ("equal", "second = Dim", "second = first"),
        ("derived", "width = Dim", "width = 4*Dim('_width', min=1, max=24)"),
    ],
)
def test_suggestions_of_torch_are_offered_where_the_dimension_is_defined(
    case: str, row: str, text: str, refused: dict[str, Any]
) -> None:
    """And torch takes the call then."""
    (finding,) = (f for f in refused["findings"] if f["location"]["row"] == ROWS[case] and f["verdict"] == "missed")
    assert finding["fix"]["applicability"] == "display-only"
    lines = DEFINITIONS.splitlines()
    (edit,) = finding["fix"]["edits"]
    place = edit["location"]["row"] - 1
    assert lines[place].startswith(row)
    line = lines[place]
    lines[place] = line[: edit["location"]["column"] - 1] + edit["content"] + line[edit["end_location"]["column"] - 1 :]
    assert lines[place] == text
    definitions: dict[str, Any] = {}
    exec("\n".join(lines), definitions)
    assert eval(CALLS[case], definitions) is not None


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What came of each call, by the text of its line."""
    root = tmp_path_factory.mktemp("script")
    (root / "script.py").write_text(SCRIPT, encoding="utf-8")
    (root / "pyproject.toml").touch()
    told = _verify(root)
    rows = SCRIPT.splitlines()
    return {rows[int(run["target"].partition(":")[2]) - 1].strip(): run for run in told if run["target"][-1].isdigit()}


def _verify(root: Path, *flags: str) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = _report(root, *flags)["runs"]
    return runs


def _report(root: Path, *flags: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "exportlint", "verify", "--no-cache", "--python", sys.executable]
    arguments = ["--calls", "--output-format", "json", "-j2", *flags, "script.py"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(root / "cache")}
    done = subprocess.run(
        [*command, *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize(
    ("call", "mode", "verdict"),
    [
        ("torch.export.export(Global(), (torch.ones(2, 3),))", "non-strict", "exports"),
        ("torch.export.export(Typed(), (torch.ones(2, 3),), strict=True)", "strict", "exports"),
        ("torch.export.export(Typed(), (torch.ones(2, 3),), strict=False)", "non-strict", "diverges"),
        ("torch.export.export(Detached(), (torch.ones(2, 3),))", "non-strict", "exports"),
    ],
    ids=["the script is __main__", "strict", "non-strict", "inside of `with`"],
)
def test_a_call_is_verified_as_the_script_makes_it(
    call: str, mode: str, verdict: str, runs: dict[str, dict[str, Any]]
) -> None:
    run = runs[call]
    assert (run["mode"], run["verdict"]) == (mode, verdict), run["reason"]


def test_the_flag_outdoes_the_call(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    text = SCRIPT.partition("torch.export.export(Global")[0]
    (tmp_path / "script.py").write_text(text + "torch.export.export(Typed(), (torch.ones(3),))\n", encoding="utf-8")
    found = {run["target"]: (run["mode"], run["verdict"]) for run in _verify(tmp_path, "--mode", "strict")}
    row = text.count("\n") + 1
    assert found[f"script:{row}"] == ("strict", "exports")
