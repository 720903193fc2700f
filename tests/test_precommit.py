"""The hooks, run by the real pre-commit on a repository with a change to commit."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.notebooks import NET_CELL, notebook
from tests.cli.runner import CLEAN, NET, write
from tests.cli.test_fix import DATA, FIXED, KEPT
from tests.forking import python
from tests.patience import PATIENCE
from tests.sampling import one_in

PROJECT = Path(__file__).parents[1]
MANIFEST = PROJECT / ".pre-commit-hooks.yaml"

pytest.importorskip("pre_commit")


def call(*argv: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PRE_COMMIT_HOME": str(cwd.parent / "pre-commit"),
        "PYTHONPATH": os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")]),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    for name in [name for name in environment if name.startswith("GIT_") and "CONFIG" not in name]:
        del environment[name]
    return subprocess.run(
        [str(word) for word in argv],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_the_manifest_is_valid() -> None:
    result = call(sys.executable, "-m", "pre_commit", "validate-manifest", MANIFEST, cwd=PROJECT)
    assert (result.returncode, result.stdout) == (0, "")


def repository(tmp_path: Path, hook_id: str) -> Path:
    """A git repository whose hook is one of the manifest, but for where exportlint comes from."""
    from pre_commit.clientlib import load_manifest  # type: ignore[import-untyped]

    (hook,) = (hook for hook in load_manifest(MANIFEST) if hook["id"] == hook_id)
    command, _, arguments = hook["entry"].partition(" ")
    assert command == "exportlint"
    assert hook["require_serial"]
    names = str(hook["pass_filenames"]).lower()
    root = tmp_path / "repository"
    root.mkdir()
    entry = f"{shlex.join(python())} -m exportlint {arguments}"
    config = (
        f"repos:\n- repo: local\n  hooks:\n  - id: {hook_id}\n    name: {hook['name']}\n    language: system\n"
        f"    entry: {entry}\n    types_or: {hook['types_or']}\n    args: {hook['args']}\n    require_serial: true\n"
        f"    pass_filenames: {names}\n"
    )
    write(root, {".pre-commit-config.yaml": config, "exportlint.toml": 'extend-exclude = ["vendor"]\n'})
    call("git", "init", "-q", cwd=root)
    return root


@pytest.fixture
def linted(tmp_path: Path) -> Path:
    """A repository with the hook that finds."""
    return repository(tmp_path, "exportlint")


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    """A repository with the hook that fixes."""
    return repository(tmp_path, "exportlint-fix")


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A repository with the hook that looks at all of it."""
    return repository(tmp_path, "exportlint-project")


def run_hook(repository: Path) -> subprocess.CompletedProcess[str]:
    call("git", "add", ".", cwd=repository)
    return call(sys.executable, "-m", "pre_commit", "run", "--color", "never", cwd=repository)


def test_findings_stop_a_commit(linted: Path) -> None:
    write(linted, {"model.py": NET, "clean.py": CLEAN, "notes.txt": NET})
    result = run_hook(linted)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "- exit code: 1" in result.stdout
    assert "model.py:7:12" in result.stdout
    assert "Found 1 finding" in result.stdout
    assert result.stdout.count("Found ") == 1


@pytest.mark.thorough
def test_notebooks_are_linted(linted: Path) -> None:
    write(linted, {"model.ipynb": notebook("from torch import nn", NET_CELL)})
    result = run_hook(linted)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "model.ipynb:cell 2:4:16" in result.stdout


@pytest.mark.thorough
def test_clean_and_excluded_files_pass(linted: Path) -> None:
    write(linted, {"clean.py": CLEAN, "vendor/model.py": NET})
    result = run_hook(linted)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Passed" in result.stdout


def test_without_python_files_there_is_nothing_to_do(linted: Path) -> None:
    write(linted, {"notes.txt": NET})
    assert "(no files to check)Skipped" in run_hook(linted).stdout


HELPER = "def is_dark(t):\n    return t.mean() < 0.5\n"
USER = NET.replace("import torch\n", "from helper import is_dark\n").replace("x.sum() > 0", "is_dark(x)")


@pytest.mark.parametrize("hook_id", one_in(2, ["exportlint-project", "exportlint"]))
def test_a_changed_helper_stops_a_commit_for_the_modules_that_use_it(hook_id: str, tmp_path: Path) -> None:
    root = repository(tmp_path, hook_id)
    harmless = HELPER.replace("t.mean() < 0.5", "t.shape[0] > 5")
    write(root, {"helper.py": harmless, "model.py": USER})
    call("git", "add", ".", cwd=root)
    call("git", "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "first", cwd=root)
    write(root, {"helper.py": HELPER})
    result = run_hook(root)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "--> model.py:7:12" in result.stdout


@pytest.mark.thorough
def test_the_project_hook_looks_at_files_that_did_not_change(whole: Path) -> None:
    write(whole, {"model.py": NET, "vendor/model.py": NET})
    call("git", "add", ".", cwd=whole)
    call("git", "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "first", cwd=whole)
    write(whole, {"clean.py": CLEAN})
    result = run_hook(whole)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "--> model.py:7:12" in result.stdout
    assert "vendor" not in result.stdout


def test_what_was_fixed_stops_a_commit_once(fixed: Path) -> None:
    write(fixed, {"model.py": DATA, "clean.py": CLEAN, "vendor/model.py": DATA})
    result = run_hook(fixed)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "- files were modified by this hook" in result.stdout
    assert "Found 1 finding (1 fixed, 0 remaining)." in result.stdout
    assert ((fixed / "model.py").read_text(), (fixed / "vendor/model.py").read_text()) == (FIXED, DATA)
    again = run_hook(fixed)
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.thorough
def test_what_remains_after_fixing_stops_a_commit(fixed: Path) -> None:
    write(fixed, {"model.py": KEPT})
    result = run_hook(fixed)
    assert "- exit code: 1" in result.stdout
    assert "Found 1 finding (0 errors, 1 warning)." in result.stdout
