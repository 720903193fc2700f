"""`exportlint explain`, from the text that torch printed to the report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import Run
from tests.patience import PATIENCE

MODEL = """\
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        mask = x > 0
        if mask.any():
            x = x * 2
        return x
"""
LOG = """\
Traceback (most recent call last):
  File "{root}/export.py", line 4, in <module>
    torch.export.export(Model(), (torch.ones(3, 4),))
  File "/usr/lib/python3.11/site-packages/torch/export/__init__.py", line 205, in export
    raise e
  File "{root}/model.py", line 7, in forward
    if mask.any():
torch._dynamo.exc.UserError: Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).
"""
EXPORT = """\
import torch
from model import Model

torch.export.export(Model(), (torch.ones(3, 4),))
"""


@pytest.fixture
def project(root: Path) -> Path:
    (root / "model.py").write_text(MODEL)
    (root / "log.txt").write_text(LOG.format(root=root))
    return root


@pytest.mark.usefixtures("project")
def test_line_rule_trail_and_fix(run: Run) -> None:
    result = run("explain", "log.txt")
    assert result.code == 0
    for part in (
        "error[EXP101 tensor-branch]",
        "model.py:7:12",
        "trail: `x` is an input",
        "+         x = torch.where(",
    ):
        assert part in result.out
    assert result.out.endswith("Explained 1 of 1 error.\n")


def test_a_log_of_another_machine(run: Run, project: Path) -> None:
    (project / "log.txt").write_text(LOG.format(root="C:\\ci\\build"))
    assert "model.py:7:12" in run("explain", "log.txt").out


def test_without_sources_the_log_is_enough(run: Run, project: Path) -> None:
    (project / "model.py").unlink()
    result = run("explain", "log.txt")
    assert result.code == 0
    assert "EXP101 tensor-branch" in result.out
    assert "7 | if mask.any():" in result.out
    assert "the file was not found" in result.out
    assert "+        x = torch.where(" in result.out


def test_a_line_that_moved_is_found(run: Run, project: Path) -> None:
    (project / "model.py").write_text("import math\n\n\n" + MODEL)
    result = run("explain", "log.txt")
    assert "model.py:10:12" in result.out
    assert "the file has changed since" in result.out


def test_a_line_that_is_gone_is_told(run: Run, project: Path) -> None:
    (project / "model.py").write_text("x = 1\n")
    assert "the line is not there any more" in run("explain", "log.txt").out


@pytest.mark.usefixtures("project")
def test_json(run: Run) -> None:
    (one,) = json.loads(run("explain", "log.txt", "--output-format", "json").out)
    assert one["known"] is True
    assert one["rule"]["code"] == "EXP101"
    assert (one["place"]["row"], one["place"]["code"]) == (7, "if mask.any():")
    assert one["finding"]["fix"]["edits"]
    assert one["error"]["row"] == 1


@pytest.mark.usefixtures("project")
def test_markdown(run: Run) -> None:
    out = run("explain", "log.txt", "--output-format", "markdown").out
    assert out.startswith("## [EXP101 tensor-branch](https://")
    assert "```diff\n" in out


def test_what_is_not_known_is_said(run: Run, root: Path) -> None:
    (root / "log.txt").write_text('Traceback (most recent call last):\n  File "a.py", line 1, in f\nOSError: disk\n')
    result = run("explain", "log.txt")
    assert result.code == 1
    assert "exportlint does not know this error" in result.out


def test_an_error_beyond_export_has_a_remedy(run: Run, root: Path) -> None:
    (root / "log.txt").write_text("RuntimeError: Missing out variants: {'aten::alias'}\n")
    result = run("explain", "log.txt")
    assert result.code == 0
    assert "ExecuTorch has no `out` variant" in result.out


def test_no_error_is_said(run: Run, root: Path) -> None:
    (root / "log.txt").write_text("all good\n")
    result = run("explain", "log.txt")
    assert (result.code, result.out) == (1, "There is no error in log.txt.\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.txt"], "cannot read missing.txt: No such file or directory"),
        (["."], "cannot read .: Is a directory"),
        (["binary"], "binary is not text; pass the output of torch"),
        (["log.txt", "--root", "nowhere"], "--root nowhere: there is no such directory"),
        (["--"], "there is no command after `--`"),
        (["--", "no-such-program"], "cannot run no-such-program: No such file or directory"),
        (["log.txt", "--", "true"], "name a log or, after `--`, a command, not both"),
        (["log.txt", "--jso"], "unexpected argument `--jso`"),
    ],
)
def test_wrong_use_is_one_line(run: Run, project: Path, arguments: list[str], said: str) -> None:
    (project / "binary").write_bytes(b"\x7fELF\0\0")
    result = run("explain", *arguments)
    assert result.code == 2
    assert result.err.startswith(f"error: {said}")
    assert result.err.count("\n") == 1
    assert not result.out


@pytest.mark.thorough
def test_a_command_is_run_and_explained(project: Path) -> None:
    (project / "export.py").write_text(EXPORT)
    command = [
        sys.executable,
        "-m",
        "exportlint",
        "explain",
        "--output-format",
        "json",
        "--",
        sys.executable,
        "export.py",
    ]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    (one,) = json.loads(result.stdout)
    assert (one["rule"]["code"], one["mode"]) == ("EXP101", "non-strict")


def test_a_command_that_succeeds_needs_no_explanation(run: Run) -> None:
    result = run("explain", "--", sys.executable, "-c", "print('fine')")
    assert (result.code, result.out) == (0, "")
    assert "fine" in result.err
