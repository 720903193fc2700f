"""What `scripts/release.py` refuses to release. `.ci/run` rehearses a release as a whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from exportlint import __version__
from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[1]
sys.path.insert(0, str(PROJECT / "scripts"))

import release  # noqa: E402

WHEEL = f"exportlint-{__version__}-py3-none-any.whl"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with the files that name the version, the changelogs, and what the wheel is compared with."""
    root = tmp_path / "project"
    for name in [*release.VERSIONS, "CHANGELOG.md", "editors/vscode/CHANGELOG.md", "rules/EXP101-tensor-branch.md"]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, root / name)
    monkeypatch.setattr(release, "PROJECT", root)
    return root


def refused(check: Callable[[release.Release], None], output: Path, is_dry: bool = True) -> str:
    """Why a check fails; nothing if it holds."""
    try:
        check(release.Release(__version__, output, is_dry))
    except release.FailedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", release.VERSIONS)
def test_a_file_with_another_version(name: str, project: Path) -> None:
    assert refused(release.one_version, project) == ""
    path = project / name
    path.write_text(path.read_text(encoding="utf-8").replace(__version__, "9.9.9"), encoding="utf-8")
    assert "9.9.9" in refused(release.one_version, project)


@pytest.mark.parametrize("name", ["CHANGELOG.md", "editors/vscode/CHANGELOG.md"])
def test_a_changelog_without_the_version(name: str, project: Path) -> None:
    headings = {
        "## [Unreleased]": (True, False),
        f"## [{__version__}] - 2027-01-31": (True, True),
        "## [0.0.1] - 2020-01-31": (False, False),
    }
    for other in ("CHANGELOG.md", "editors/vscode/CHANGELOG.md"):
        (project / other).write_text(f"# Changelog\n\n## [{__version__}] - 2027-01-31\n", encoding="utf-8")
    for heading, (rehearsed, released) in headings.items():
        (project / name).write_text(f"# Changelog\n\n{heading}\n", encoding="utf-8")
        assert (refused(release.changelog, project) == "") is rehearsed, heading
        assert (refused(release.changelog, project, is_dry=False) == "") is released, heading


RIGHT = ("exportlint/__init__.py", "exportlint/catalogue/EXP101-tensor-branch.md")
WHEELS = {
    "": RIGHT,
    "missing from the wheel: exportlint/catalogue/EXP101-tensor-branch.md": RIGHT[:1],
    "in the wheel: tests/test_it.py": (*RIGHT, "tests/test_it.py"),
    "in the wheel: exportlint/__pycache__/a.pyc": (*RIGHT, "exportlint/__pycache__/a.pyc"),
}


@pytest.mark.parametrize("message", WHEELS)
def test_a_wheel_with_more_or_less(message: str, project: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as wheel:
        for name in WHEELS[message]:
            wheel.writestr(name, "")
    assert refused(release.wheel_contents, tmp_path) == message


def test_no_new_models_after_the_last_version(project: Path) -> None:
    def git(*command: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *identity, *command], cwd=project, check=True, capture_output=True)

    runs = project / release.FIRST_RUNS / "toylib.jsonl"
    runs.parent.mkdir(parents=True)
    runs.write_text("{}\n", encoding="utf-8")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    assert refused(release.first_runs, project) == ""
    git("tag", "v0.0.1")
    git("commit", "-m", "second", "--allow-empty")
    assert "that of v0.0.1" in refused(release.first_runs, project)
    runs.write_text("{}\n{}\n", encoding="utf-8")
    git("commit", "-am", "third")
    assert refused(release.first_runs, project) == ""


def test_an_extension_with_other_packages(project: Path) -> None:
    pinned = project / "editors/vscode/bundled/requirements.txt"
    pinned.parent.mkdir(parents=True)
    pinned.write_text("# pins\nattrs==26.1.0 --hash=sha256:0\n", encoding="utf-8")
    right = {
        "attrs-26.1.0.dist-info/METADATA",
        "attr/__init__.py",
        f"exportlint-{__version__}.dist-info/METADATA",
        "exportlint/catalogue/EXP101-tensor-branch.md",
    }
    for files, message in (
        (right, ""),
        (right - {"attrs-26.1.0.dist-info/METADATA"}, "missing from the bundled packages: attrs-26.1.0.dist-info"),
        (right | {"libcst-1.9.0.dist-info/METADATA"}, "in the bundled packages: libcst-1.9.0.dist-info"),
        (right | {"attr/fast.so"}, "in the bundled packages: attr/fast.so"),
        (right - {"exportlint/catalogue/EXP101-tensor-branch.md"},
         "missing from the bundled packages: exportlint/catalogue/EXP101-tensor-branch.md"),
    ):  # fmt: skip
        assert refused(partial(bundled, files), project) == message


def bundled(files: set[str], about: release.Release) -> None:
    release.bundled_packages(files, about.version)


def test_a_path_of_this_machine(project: Path, tmp_path: Path) -> None:
    for text, is_found in (("a = '/elsewhere/file'", False), (f"a = '{project}/file'", True)):
        with zipfile.ZipFile(tmp_path / WHEEL, "w") as wheel:
            wheel.writestr("exportlint/a.py", text)
        assert ("exportlint/a.py" in refused(release.no_paths_of_this_machine, tmp_path)) is is_found


def test_a_build_that_differs_from_the_one_before(tmp_path: Path) -> None:
    texts = iter("ab")
    about = release.Release(__version__, tmp_path, True)
    with pytest.raises(release.FailedError, match=r"it\.whl differs between two builds"):
        release._twice(about, lambda directory: (directory / "it.whl").write_text(next(texts)), {"it.whl"})


def test_a_directory_that_holds_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    command = [sys.executable, "scripts/release.py", "--dry-run", "--output", str(tmp_path)]
    result = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode == 2
    assert "holds thesis.txt: name an empty directory with --output" in result.stderr
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "mine"
