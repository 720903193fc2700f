"""What is in the wheel, and that it runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from exportlint import __version__
from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[1]

DATA = (
    "py.typed",
    "analysis/torch/torch_table.txt",
    "exportlint.schema.json",
    "pyproject.schema.json",
    "rules.schema.json",
    "verify/reports/html/page.css",
    "verify/reports/html/page.js",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the working tree, unpacked."""
    directory = tmp_path_factory.mktemp("wheel")
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory), cwd=PROJECT)
    (file,) = directory.glob("*.whl")
    assert file.name == f"exportlint-{__version__}-py3-none-any.whl"
    unpacked = directory / "site"
    zipfile.ZipFile(file).extractall(unpacked)
    return unpacked


def call(*command: str, cwd: Path, **environment: str) -> str:
    result = subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def metadata(wheel: Path) -> Message:
    return message_from_bytes((wheel / f"exportlint-{__version__}.dist-info" / "METADATA").read_bytes())


def test_contents(wheel: Path) -> None:
    files = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}
    package = {name for name in files if name.startswith("exportlint/")}
    page = f"exportlint-{__version__}.data/data/share/man/man1/exportlint.1"
    assert {name for name in files - package if ".dist-info/" not in name} == {page}
    assert (wheel / page).read_bytes() == (PROJECT / "docs/exportlint.1").read_bytes()
    assert package >= {f"exportlint/{name}" for name in DATA}
    tree = {path.relative_to(PROJECT).as_posix() for path in (PROJECT / "exportlint").rglob("*.py")}
    assert {name for name in package if name.endswith(".py")} == tree
    pages = {path.name for path in (PROJECT / "rules").glob("*.md")}
    assert {name for name in package if name.endswith(".md")} == {f"exportlint/catalogue/{page}" for page in pages}


def test_metadata(wheel: Path) -> None:
    about = metadata(wheel)
    assert about["Requires-Python"] == ">=3.10"
    requirements = [requirement.partition(";") for requirement in about.get_all("Requires-Dist", [])]
    core = {re.split(r"[<>=!~]", names.strip())[0] for names, _, marker in requirements if "extra ==" not in marker}
    assert core == {"libcst", "platformdirs", "pygls", "tomli"}
    bounds = [bound for names, _, _ in requirements for bound in re.findall(r"[<>=!~]+", names)]
    assert set(bounds) == {">="}
    assert about.get_all("Provides-Extra") == [
        "completions",
        "dev",
        "distributed",
        "docs",
        "release",
        "test",
        "verify",
        "watch",
    ]
    assert (about["License-Expression"], about["License-File"]) == ("MIT", "LICENSE")
    urls = dict(url.split(", ") for url in about.get_all("Project-URL", []))
    assert urls.keys() == {"Homepage", "Documentation", "Repository", "Changelog", "Issues"}
    assert about["Description-Content-Type"] == "text/markdown"
    description = str(about.get_payload())
    assert f"/blob/v{__version__}/docs/rules.md)" in description
    assert f"/raw/v{__version__}/editors/vscode/images/quick-fixes.png)" in description
    assert re.findall(r"\]\((?!https?://|#)[^)]*\)", description) == []


def test_the_wheel_runs(wheel: Path, tmp_path: Path) -> None:
    scripts = (wheel / f"exportlint-{__version__}.dist-info" / "entry_points.txt").read_text(encoding="utf-8")
    assert "exportlint = exportlint.cli:main" in scripts
    # The wheel before everything else, in a directory away from the working tree.
    path = {"PYTHONPATH": str(wheel)}
    where = call(sys.executable, "-c", "import exportlint; print(exportlint.__file__)", cwd=tmp_path, **path)
    assert Path(where.strip()).is_relative_to(wheel)
    (tmp_path / "clean.py").write_text("import torch\n", encoding="utf-8")
    assert call(sys.executable, "-m", "exportlint", "clean.py", cwd=tmp_path, **path) == "All checks passed!\n"
    page = call(sys.executable, "-m", "exportlint", "rule", "EXP101", cwd=tmp_path, **path)
    assert page.startswith("# tensor-branch (EXP101)")


@pytest.mark.thorough
def test_the_source_distribution_builds_the_same_wheel(tmp_path: Path) -> None:
    call(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path), cwd=PROJECT)
    (archive,) = tmp_path.glob("*.tar.gz")
    call(sys.executable, "-m", "tarfile", "-e", str(archive), str(tmp_path), cwd=tmp_path)
    root = tmp_path / f"exportlint-{__version__}"
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path), cwd=root)
    (file,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(file).namelist())
    pages = {f"exportlint/catalogue/{path.name}" for path in (PROJECT / "rules").glob("*.md")}
    assert names >= {"exportlint/py.typed", "exportlint/analysis/torch/torch_table.txt", *pages}
    assert not [name for name in names if name.startswith(("tests/", "scripts/"))]
