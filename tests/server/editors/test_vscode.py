"""The VS Code extension, built and in a real VS Code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.documents import PROJECT
from tests.patience import PATIENCE

EXTENSION = PROJECT / "editors" / "vscode"


def run(command: list[str], directory: Path, seconds: int) -> None:
    """Run a command that has to succeed; its output is shown if it does not."""
    environment = {**os.environ, "EXPORTLINT_PYTHON": sys.executable, "PYTHONPATH": str(PROJECT)}
    ran = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=seconds,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout.decode(errors="replace")[-8000:]


@pytest.fixture
def wanted(request: pytest.FixtureRequest) -> None:
    """Skip what installs VS Code and takes minutes, unless it is asked for."""
    asked = "vscode" in str(request.config.getoption("markexpr"))
    if not asked and os.environ.get("EXPORTLINT_EDITORS") != "require":
        pytest.skip("not asked for by `-m vscode`")


@pytest.mark.vscode
@pytest.mark.usefixtures("wanted")
def test_the_extension_is_built_and_packaged() -> None:
    npm = shutil.which("npm")
    assert npm is not None, "no npm on PATH"
    run([npm, "ci", "--no-audit", "--no-fund"], EXTENSION, 300)
    run([npm, "run", "check"], EXTENSION, 300)


@pytest.mark.vscode
@pytest.mark.usefixtures("wanted")
def test_the_bundled_exportlint_runs_where_nothing_is_installed(tmp_path: Path) -> None:
    with zipfile.ZipFile(EXTENSION / "dist" / "exportlint.vsix") as archive:
        archive.extractall(tmp_path)
    # -S: without site-packages
    bundled = [sys.executable, "-I", "-S", str(tmp_path / "extension" / "bundled" / "run.py")]
    arguments = ["check", "examples/quickstart", "--no-cache", "--exit-zero", "--output-format", "concise"]
    command, installed = ([*start, *arguments] for start in (bundled, [sys.executable, "-m", "exportlint"]))
    out, expected = (
        subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
        for argv in (command, installed)
    )
    assert "Found 4 findings (3 errors, 1 warning)." in out
    # Without libcst, there is no fix to mark.
    assert out.splitlines()[:4] == [line.replace(": [*] ", ": ") for line in expected.splitlines()[:4]]


@pytest.mark.vscode
@pytest.mark.usefixtures("wanted")
@pytest.mark.parametrize("part", ["exthost", "ui", "mutants"])
def test_in_vscode(part: str) -> None:
    run(["test/vscode/run.sh", part], EXTENSION, 900)
