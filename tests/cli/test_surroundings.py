"""What a run gets from its surroundings: closed streams, a full disk, a directory that is gone, odd files."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.forking import python
from tests.patience import PATIENCE
from tests.source.privileges import unprivileged_command

BRANCH = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def run(command: str, directory: Path, start: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    program = shlex.join([*(start or python()), "-m", "exportlint"])
    return subprocess.run(
        ["sh", "-c", command.replace("exportlint", program)],
        cwd=directory, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(BRANCH)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        ("exportlint - <&-", 0, ""),
        ("exportlint model.py >&-", 1, ""),
        ("mkdir gone && cd gone && rmdir ../gone && exportlint model.py", 2, "error: No such file or directory"),
        ("exportlint -j 99999999 model.py", 1, ""),
        ("mkfifo pipe.py && exportlint pipe.py", 1, ""),
    ],
)
def test_ends_as_documented(command: str, code: int, error: str, project: Path) -> None:
    result = run(command, project, [sys.executable])
    assert (result.returncode, result.stderr.strip()) == (code, error)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line(project: Path) -> None:
    result = run("exportlint model.py > /dev/full", project)
    assert result.returncode == 2
    assert result.stderr.strip() == "error: No space left on device"


def test_a_pipe_is_no_source(project: Path) -> None:
    os.mkfifo(project / "pipe.py")
    result = run("exportlint --output-format concise pipe.py", project)
    assert "pipe.py:1:1: error[EXP003 unreadable-file]: is not a regular file" in result.stdout


def test_entry_points_are_patterns(project: Path) -> None:
    (project / "model.py").write_text(BRANCH.replace("forward", "forward_features"))
    (project / "exportlint.toml").write_text('entry-points = ["forward", "forward_*"]\n')
    assert run("exportlint model.py", project).returncode == 1
    assert run("exportlint --isolated model.py", project).returncode == 0


GATED = """\
import fastops
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        if {}:
            return x
        return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)
"""


def test_functions_can_be_said_to_return_a_tensor(project: Path) -> None:
    (project / "model.py").write_text(GATED.format("fastops.gate(x) > 0"))
    assert run("exportlint model.py", project).returncode == 0
    (project / "exportlint.toml").write_text('returns-tensor = ["fastops.g*"]\n')
    result = run("exportlint --output-format concise model.py", project)
    assert "model.py:7:12: error[EXP101 tensor-branch]" in result.stdout


HELD = """\
from torch import nn
import model


class Tool(nn.Module):
    def forward(self, n):
        if n.sum() > 0:
            return n
        return n * 2
"""


@pytest.mark.thorough
def test_exported_classes_can_be_named(project: Path) -> None:
    (project / "model.py").write_text(GATED.format("x.sum() > 0"))
    (project / "tool.py").write_text(HELD)

    def found(patterns: str) -> list[str]:
        (project / "exportlint.toml").write_text(f"exported = {patterns}\n")
        lines = run("exportlint --output-format concise .", project).stdout.splitlines()
        return [line.partition(": ")[0] for line in lines if ": error" in line]

    assert found("[]") == ["model.py:7:12", "tool.py:7:12"]
    assert found('["model:Net"]') == ["model.py:7:12"]  # reached from `Net`
    assert found('["tool:*"]') == ["tool.py:7:12"]
    assert found('["model:Other"]') == []


def test_patterns_that_name_no_exported_class_are_told(project: Path) -> None:
    (project / "helper.py").write_text("def double(x):\n    return 2 * x\n")
    (project / "exportlint.toml").write_text('exported = ["mdoel:*"]\n')
    line = "No module was checked: `exported` matches none of them (`mdoel:*`)."
    assert run("exportlint .", project).stdout == f"{line}\n"
    assert run("exportlint --output-format json .", project).stderr == f"warning: {line}\n"
    assert run("exportlint helper.py", project).stdout == "All checks passed!\n"  # there is no module
    (project / "exportlint.toml").write_text('exported = ["mdoel:*", "model:*"]\n')
    assert line not in run("exportlint .", project).stdout


def test_a_pattern_of_exported_classes_names_module_and_class(project: Path) -> None:
    (project / "exportlint.toml").write_text('exported = ["app.models.Net"]\n')
    result = run("exportlint .", project)
    assert result.returncode == 2
    assert "expected `module:Class`, got `app.models.Net`" in result.stderr


@pytest.mark.skipif(unprivileged_command() is None, reason="root without setpriv")
@pytest.mark.parametrize(
    ("command", "mode", "found"),
    [
        ("exportlint -j1", 0, ["closed: cannot be searched: permission denied", "model.py: EXP101"]),
        ("exportlint closed model.py", 0, ["closed: cannot be searched: permission denied", "model.py: EXP101"]),
        ("exportlint closed/b.py model.py", 0, ["closed/b.py: permission denied", "model.py: EXP101"]),
        ("exportlint -j1", 0o444, ["closed/b.py: cannot be read: permission denied", "model.py: EXP101"]),
    ],
)
def test_what_may_not_be_read_is_a_finding_and_the_rest_is_linted(
    project: Path, command: str, mode: int, found: list[str]
) -> None:
    closed = project / "closed"
    closed.mkdir()
    (closed / "b.py").write_text(BRANCH)
    prefix = " ".join(unprivileged_command() or [])
    closed.chmod(mode)
    result = run(f"{prefix} {command} --output-format json", project, [sys.executable])
    closed.chmod(0o755)
    assert (result.returncode, result.stderr) == (1, "")
    said = [
        (
            os.path.relpath(finding["filename"], project),
            finding["message"] if finding["code"] == "EXP003" else finding["code"],
        )
        for finding in json.loads(result.stdout)
    ]
    assert [f"{name}: {message}" for name, message in said] == found


@pytest.mark.skipif(unprivileged_command() is None, reason="root without setpriv")
def test_the_working_directory_may_be_closed(project: Path) -> None:
    (project / "closed").mkdir()
    prefix = " ".join(unprivileged_command() or [])
    result = run(
        f"cd closed && chmod 0 . && {prefix} exportlint --output-format concise {project}/model.py",
        project,
        [sys.executable],
    )
    (project / "closed").chmod(0o755)
    assert (result.returncode, result.stderr) == (1, "")
    assert f"{project}/model.py:6:12: error[EXP101 tensor-branch]" in result.stdout


@pytest.mark.thorough
def test_a_file_that_does_not_fit_into_memory_is_a_finding_and_the_rest_is_linted(project: Path) -> None:
    lines = "".join(f"        self.n{i} = self.n{i} + 1\n" for i in range(16_000))
    big = f"from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n{lines}        return x\n"
    (project / "big.py").write_text(big)
    command = "ulimit -v 540000; exportlint --isolated --no-cache -j 1 --output-format concise ."
    done = run(command, project, [sys.executable])
    assert [line.split("]")[0] for line in done.stdout.splitlines()[:2]] == [
        "big.py:1:1: error[EXP003 unreadable-file",
        "model.py:6:12: error[EXP101 tensor-branch",
    ]
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
