"""The README of each example says what exportlint finds in it, what mends it, and what torch.export makes of both."""

from __future__ import annotations

import contextlib
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.forking import python
from tests.patience import PATIENCE
from tests.sampling import one_in

EXAMPLES = Path(__file__).parents[1] / "examples"
READMES = sorted(path for path in EXAMPLES.glob("*/README.md") if path.parent.name != "libraries")

QUICK = ("first_steps",)
every_example = pytest.mark.parametrize(
    "readme",
    [pytest.param(r, marks=() if r.parent.name in QUICK else pytest.mark.thorough) for r in READMES],
    ids=[readme.parent.name for readme in READMES],
)


def exportlint(*argv: str, cwd: Path, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
    command = [*python(), "-m", "exportlint", *argv]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("FORCE_COLOR", "CLICOLOR"))}
    result = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False, timeout=timeout,
        env=environment,
    )  # fmt: skip
    assert result.stderr == ""
    return result


def rows(readme: Path, *columns: str) -> list[list[str]]:
    """Those of the table, which has these columns before the usual ones."""
    lines = readme.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    head, *body = cells
    assert head == [*columns, "target", "mode", "verdict", "because"]
    return body


def check_verdicts(report: dict[str, Any], expected: list[list[str]]) -> None:
    """The runs are those of the table, and end as it says."""
    reasons = [run["reason"] for run in report["runs"]]
    ends = [[run["target"], run["mode"], run["verdict"]] for run in report["runs"]]
    assert ends == [row[:3] for row in expected], reasons
    for reason, (*_, why) in zip(reasons, expected, strict=True):
        assert why in reason


def test_the_examples_are_there() -> None:
    assert len(READMES) > 10


@every_example
def test_the_commands_print_what_is_shown(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    shown = "\n".join(re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    printed = ""
    for line in shown.splitlines():
        if line.startswith("$ "):
            name, *argv = shlex.split(line[2:])
            assert name == "exportlint"
            printed += f"{line}\n{exportlint(*argv, cwd=readme.parent).stdout}"
    assert [line for line in printed.splitlines() if line] == [line for line in shown.splitlines() if line]
    assert printed


@every_example
def test_nothing_is_wrong_with_what_is_fixed(readme: Path) -> None:
    fixed = sorted(path.name for path in readme.parent.glob("fixed*.py"))
    assert fixed
    for mode in ("non-strict", "strict"):
        result = exportlint("check", *fixed, "--mode", mode, "--output-format", "concise", cwd=readme.parent)
        uses_hooks = readme.parent.name == "speech"  # which strict mode refuses, as its README says
        assert result.returncode == (mode == "strict" and uses_hooks and "model.py" in result.stdout), result.stdout


FIX = re.compile(r"`exportlint (check (\S+) --fix --unsafe-fixes)` turns\s[\w\s]+?\sinto\s\[(\S+)\]")
FIXES = [(readme, *found) for readme in READMES for found in FIX.findall(readme.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("readme", "command", "before", "after"), FIXES, ids=[fix[0].parent.name for fix in FIXES])
def test_the_command_makes_the_fixed_file(readme: Path, command: str, before: str, after: str, tmp_path: Path) -> None:
    folder = shutil.copytree(readme.parent, tmp_path / "example")
    (tmp_path / "ruff.toml").write_text("line-length = 120\n", encoding="utf-8")  # as where the example stands
    exportlint(*shlex.split(command), cwd=folder)
    fixed = (folder / before).read_text(encoding="utf-8")
    assert fixed == (readme.parent / after).read_text(encoding="utf-8")


def test_some_fixes_are_automatic() -> None:
    assert {fix[0].parent.name for fix in FIXES} == {"first_steps", "segmentation", "video"}


@pytest.mark.thorough
@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.parent.name)
def test_the_verdicts_are_those_of_the_table(readme: Path) -> None:
    pytest.importorskip("torch")
    expected = rows(readme)
    result = exportlint("verify", "--no-cache", "--output-format", "json", cwd=readme.parent, timeout=PATIENCE)
    assert result.returncode == any(row[2] != "exports" for row in expected)
    report = json.loads(result.stdout)
    check_verdicts(report, expected)
    assert "refuted" not in {finding["verdict"] for finding in report["findings"]}


SCRIPTS = {
    "video/export.py": "Guard failed: clips.size()[0] == 2",
    "video/fixed.py": None,
    "speech/export.py": "setattr() on unsupported type",
    "speech/fixed.py": None,
    "segmentation/model.py:exported": "got <class 'method'>",
    "segmentation/fixed.py:exported": None,
    "dynamic_shapes/model.py:bounded": "not in range",
    "dynamic_shapes/model.py:shared": "weights",
    "dynamic_shapes/model.py:derived": None,
    "dynamic_shapes/model.py:branched": "Constraints violated",
    "dynamic_shapes/fixed.py:bounded": None,
    "dynamic_shapes/fixed.py:shared": None,
    "dynamic_shapes/fixed.py:branched": None,
    "image_to_text/fixed_export.py": None,
}
"""What the scripts and functions of the examples raise."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", one_in(4, SCRIPTS))
def test_torch_does_what_is_claimed(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    path, _, function = script.partition(":")
    monkeypatch.syspath_prepend((EXAMPLES / path).parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "model", raising=False)
    raised = SCRIPTS[script]
    names: dict[str, Any] = {}
    with contextlib.nullcontext() if raised is None else pytest.raises(Exception, match=re.escape(raised)):
        names = runpy.run_path(str(EXAMPLES / path))
        if function:
            names[function]()
    assert not function or function in names


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("g++") is None, reason="AOTInductor needs a C++ compiler")
def test_a_program_becomes_a_package(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    command = [sys.executable, "-B", "fixed.py", str(tmp_path)]
    folder = EXAMPLES / "deployment"
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("agrees\n" * 4 + "aten.permute.default aten.addmm.default")
