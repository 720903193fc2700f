"""`exportlint verify --calls`: what a script calls torch.export with, in the state that the script is in then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.forking import python

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


class Fixed(nn.Module):
    def __init__(self, times):
        super().__init__()
        self.times = times

    def forward(self, x):
        return x.view(2, -1) * self.times


X = torch.ones(2, 8)
"""

CALLS = {
    "equal": "export(Add(), (X, X + 1), dynamic_shapes={'x': {0: first}, 'y': {0: second}})",
    "derived": "export(Fourths(), (X,), dynamic_shapes={'x': {1: width}}, strict=True)",
    "sized": "export(Two(3), (X,), dynamic_shapes={'x': {0: first}})",
    "fixed": "export(Fixed(3), (X,), dynamic_shapes={'x': {0: first}})",
    "list": "export(Add(), [X, X])",
    "missing": "export(Add(), (X,))",
    "unknown": "export(Add(), (X, X), dynamic_shapes={'z': {0: same}})",
    "function": "export(lambda x: x, (X,))",
    "one": "export(Add(), (torch.ones(1, 3), torch.ones(1, 3)), dynamic_shapes={'x': {0: same}, 'y': {0: same}})",
}
DEFINITIONS = REFUSED
REFUSED += "".join(f"try:\n    {call}\nexcept Exception:\n    pass\n" for call in list(CALLS.values())[:-1])
REFUSED += CALLS["one"] + "\n"  # what the linter knows to raise is not expected inside of `try`
REFUSED += "raise SystemExit\n"  # so models are verified by the calls alone
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


@pytest.mark.parametrize(
    ("case", "line", "code", "severity"),
    [
        ("sized", "return x * self.times if x.shape[0] == 2 else x", "EXP401", "error"),  # a warning without the call
        ("fixed", "return x.view(2, -1) * self.times", "EXP407", "error"),  # an info, were it not for the call
    ],
)
def test_a_size_that_torch_cannot_vary_confirms_what_is_found_of_that_size(
    case: str, line: str, code: str, severity: str, refused: dict[str, Any]
) -> None:
    row = REFUSED.splitlines().index(f"        {line}") + 1
    (finding,) = (f for f in refused["findings"] if f["location"]["row"] == row)
    assert (finding["code"], finding["verdict"], finding["severity"]) == (code, "confirmed", severity)
    assert refused["runs"][finding["run"]]["target"] == f"script:{ROWS[case]}"
    assert not [f for f in refused["findings"] if f["location"]["row"] == ROWS[case] and f["verdict"] == "missed"]


def test_a_line_that_restricts_a_size_is_the_trail_of_what_the_call_misses(refused: dict[str, Any]) -> None:
    row = REFUSED.splitlines().index("        return x + y") + 1
    assert not [f for f in refused["findings"] if f["location"]["row"] == row]
    (missed,) = (f for f in refused["findings"] if f["location"]["row"] == ROWS["equal"])
    assert [step["location"]["row"] for step in missed["trail"]] == [row]


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


def _report(root: Path, *flags: str, script: str = "script.py") -> dict[str, Any]:
    command = [*python(), "-m", "exportlint", "verify", "--no-cache", "--python", sys.executable]
    arguments = ["--calls", "--output-format", "json", "-j2", *flags, script]
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


BEHIND = """\
import contextlib
import torch
from torch import nn
from torch.export import export


class Bad(nn.Module):
    def __init__(self, times):  # so it is verified by the call alone
        super().__init__()
        self.times = times

    def forward(self, x):
        return x * self.times if x.sum() > 0 else x


class Good(nn.Module):
    def __init__(self, times):
        super().__init__()
        self.times = times

    def forward(self, x):
        return x * self.times


X = torch.ones(2, 3)
"""

REFUSES = "program = export(Bad(2), (X,))\n"
CALL = "export(Good(2), (X,))\n"
FOLLOWING = {
    "nothing": (REFUSES + CALL, "exports", ""),
    "two refusals": (REFUSES + REFUSES + CALL, "exports", ""),
    "what is printed and compared": (
        (
            f"{REFUSES}print(program, f'{{program.graph}}')\nfor node in program.graph.nodes:\n    print(node.name)\n"
            "out = program.module()(X)\nassert torch.allclose(out, X * 2)\nassert out.shape == X.shape\n"
            f"torch.testing.assert_close(X + out, X)\n{CALL}"
        ),
        "exports",
        "",
    ),
    "what is saved and run": (
        f"{REFUSES}torch.export.save(program, 'a.pt2')\nwith torch.no_grad():\n    program.module()(X).sum()\n{CALL}",
        "exports",
        "",
    ),
    "the calls of a function": (f"def main():\n    {REFUSES}    print(program)\n    {CALL}\n\nmain()\n", "exports", ""),
    "a call that is caught": (
        (
            "try:\n    export(Bad(2), (X,))\n    times = 1\nexcept Exception:\n    times = 3\n"
            "assert times == 3\nexport(Good(times), (X,))\n"
        ),
        "exports",
        "",
    ),
    "a call that is suppressed": (
        (
            "times = 3\nwith contextlib.suppress(Exception):\n    export(Bad(2), (X,))\n    times = 1\n"
            "assert times == 3\nexport(Good(times), (X,))\n"
        ),
        "exports",
        "",
    ),
    "a call for which another is caught": (
        f"try:\n    {REFUSES}except KeyError:\n    pass\n{CALL}",
        "exports",
        "",
    ),
    "the program as the model": (
        f"{REFUSES}export(program.module(), (X,))\n",
        "cannot be built",
        "torch rejects the call of torch.export at line 26: GuardOnDataDependentSymNode",
    ),
    "an input of the program": (
        f"{REFUSES}export(Good(2), (program.module()(X),))\n",
        "cannot be built",
        "torch rejects the call of torch.export at line 26: GuardOnDataDependentSymNode",
    ),
    "a number of the program": (
        f"{REFUSES}export(Good(float(program.module()(X).sum())), (X,))\n",
        "cannot be built",
        "torch rejects the call of torch.export at line 26: GuardOnDataDependentSymNode",
    ),
    "a part of the program": (
        f"{REFUSES}export(Good(program.module().times), (X,))\n",
        "cannot be built",
        "torch rejects the call of torch.export at line 26: GuardOnDataDependentSymNode",
    ),
    "what nothing can stand in for": (
        f"{REFUSES}one, two = program.graph.nodes\n{CALL}",
        "cannot be built",
        "not enough values to unpack (expected 2, got 0), and torch rejects the call of torch.export at line 26: Guard",
    ),
    "an error of the script": (
        f"X.unknown\n{CALL}",
        "cannot be built",
        "AttributeError: 'Tensor' object has no attribute 'unknown'",
    ),
}
"""Scripts with calls behind one that torch refuses, and the verdict on the last one."""


@pytest.mark.parametrize("case", FOLLOWING)
def test_a_call_behind_a_refused_one_has_its_verdict(case: str, tmp_path: Path) -> None:
    code, verdict, reason = FOLLOWING[case]
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "script.py").write_text(BEHIND + code, encoding="utf-8")
    runs = [run for run in _verify(tmp_path) if run["target"][-1].isdigit()]
    last = max(runs, key=lambda run: int(run["target"].partition(":")[2]))
    assert (last["verdict"], reason in last["reason"]) == (verdict, True), last["reason"]
    assert not list(tmp_path.glob("*.pt2"))


BESIDE = f"""\
{REFUSES}print(program.graph)
doubled = program.module()


class Fine(nn.Module):
    def forward(self, x):
        return x * 2


class Calls(nn.Module):
    def forward(self, x: "Float[Tensor, '2 3']"):
        return doubled(x) + 1


class Gives(nn.Module):
    def forward(self, x):
        return x.relu(), program


class Exports(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = export(Bad(3), (X,)).module()

    def forward(self, x):
        return self.inner(x)
"""
OF_CLASSES = {
    "Fine": ("exports", ""),
    "Calls": ("cannot be built", "torch rejects the call of torch.export at line 26: GuardOnDataDependentSymNode"),
    "Gives": ("cannot be built", "torch rejects the call of torch.export at line 26: GuardOnDataDependentSymNode"),
    "Exports": ("cannot be built", "build: GuardOnDataDependentSymNode"),
}


def test_classes_beside_a_refused_call_are_verified_unless_they_use_its_program(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "script.py").write_text(BEHIND + BESIDE, encoding="utf-8")
    found = {run["target"].partition(":")[2]: (run["verdict"], run["reason"]) for run in _verify(tmp_path)}
    for name, (verdict, reason) in OF_CLASSES.items():
        assert (found[name][0], reason in found[name][1]) == (verdict, True), found[name]


def test_an_import_that_fails_for_want_of_a_program_says_why_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    code = (
        f"{REFUSES}class Model(nn.Module):\n    def forward(self, x):\n        return x\n\n\nint(program.module()(X))\n"
    )
    (tmp_path / "script.py").write_text(BEHIND + code, encoding="utf-8")
    (run,) = (run for run in _verify(tmp_path) if run["target"] == "script:Model")
    assert run["verdict"] == "cannot be built"
    assert run["reason"].startswith("import: GuardOnDataDependentSymNode")


OPTIONS = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--times", type=int, required=True, choices=[3, 4])
options = parser.parse_args()
"""
STARTED = {
    "an option that is required": (f"{OPTIONS}export(Good(options.times), (X,))\n", "exports", ""),
    "an option that nothing can stand in for": (
        f"{OPTIONS}open(options.out)\nexport(Good(2), (X,))\n",
        "cannot be built",
        "not NoneType, and it was run without its required --out",
    ),
    "a function that it does not call": (f"def test(times=2):\n    {CALL}", "exports", ""),
    "a function that it does not call, with what is not known": (
        f"def test(times):\n    {CALL}",
        "cannot be built",
        "the script ended without calling torch.export",
    ),
    "a module of its package": (f"from .parts import TIMES\n{CALL.replace('2', 'TIMES')}", "exports", ""),
    "a module that its package lacks": (f"from .missing import TIMES\n{CALL}", "cannot be built", "net.missing"),
}
"""What a script begins with that nobody starts it with, and the verdict on its call."""


@pytest.mark.parametrize("case", STARTED)
def test_a_script_is_started_as_it_has_to_be(case: str, tmp_path: Path) -> None:
    code, verdict, reason = STARTED[case]
    package = tmp_path / "net"
    package.mkdir()
    (tmp_path / "pyproject.toml").touch()
    for name, text in (("__init__", ""), ("parts", "TIMES = 2\n"), ("script", BEHIND + code)):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (run,) = (run for run in _report(tmp_path, script="net/script.py")["runs"] if run["target"][-1].isdigit())
    assert (run["verdict"], reason in run["reason"]) == (verdict, True), run["reason"]


def test_one_tensor_for_several_inputs_is_what_a_program_is_wrong_about(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    code = "export(Add(), (X,), {'y': X})\n"
    (tmp_path / "script.py").write_text(DEFINITIONS + code, encoding="utf-8")
    (run,) = (run for run in _verify(tmp_path) if run["target"][-1].isdigit())
    assert run["verdict"] == "diverges"
    said = "the example passes one tensor as x and y, and the program takes these for one input"
    (wrong,) = (found for found in run["comparisons"] if found["agreement"] == "diverges")
    assert (wrong["kind"], wrong["detail"].partition(":")[0]) == ("identity", said)
