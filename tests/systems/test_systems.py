"""The systems of the tutorials: verdicts and findings are those of the table in docs/verify.md."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.forking import python
from tests.patience import PATIENCE
from tests.test_examples import rows as rows_of

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "verify.md"
LIBRARIES = ROOT / "examples" / "libraries" / "README.md"
OPERATORS = Path(__file__).parent / "operators"
REQUIRED = os.environ.get("EXPORTLINT_LIBRARIES") == "require"
HEAD = ["system", "library", "folder", "target", "mode", "verdict", "findings", "at", "fix"]


class Row(NamedTuple):
    """One of the table.

    `findings`: the names of those confirmed, `missed` for what has none. `at`: the lines of code that those confirmed
    begin in, and `fix` how sure the fix of each is; both in the order of the names.
    """

    system: str
    library: str
    folder: str
    target: str
    mode: str
    verdict: str
    findings: str
    at: str
    fix: str


def table() -> list[Row]:
    lines = DOCUMENT.read_text(encoding="utf-8").partition("## The systems")[2].splitlines()
    head, *body = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    assert head == HEAD
    return [Row(*cells) for cells in body if len(cells) == len(HEAD)]


def grouped() -> list[Any]:
    """The rows of each library and folder, which one command verifies."""
    cases = []
    for (folder, library), rows in groupby(sorted(table(), key=_group), key=_group):
        mark = pytest.mark.thorough if library == "torch" else pytest.mark.libraries
        cases.append(pytest.param(folder, library, list(rows), id=f"{folder}-{library}", marks=mark))
    return cases


def _group(row: Row) -> tuple[str, str]:
    return row.folder, row.library


def environment(library: str) -> dict[str, str]:
    """In which a library can be imported; skips the test, or fails it, where there is none."""
    plain = dict(os.environ)
    if not REQUIRED and importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    reason = _refused(library, plain)
    if reason is None:
        return plain
    declared = {**plain, "PYTHONPATH": os.pathsep.join(filter(None, [str(OPERATORS), plain.get("PYTHONPATH")]))}
    if library != "torch" and _refused(library, declared) is None:
        return declared
    message = f"{library} cannot be imported: {reason}"
    if REQUIRED:
        pytest.fail(message)
    pytest.skip(message)


IMPORTS = {"transformers": "from transformers import WhisperForConditionalGeneration"}


def _refused(library: str, environ: dict[str, str]) -> str | None:
    code = IMPORTS.get(library, f"import {library}")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False, timeout=PATIENCE)
    return (done.stderr.strip().splitlines() or ["?"])[-1] if done.returncode else None


@pytest.mark.parametrize(("folder", "library", "rows"), grouped())
def test_verdicts_and_findings_are_those_of_the_table(folder: str, library: str, rows: list[Row]) -> None:
    targets = dict.fromkeys(row.target for row in rows)
    environ = environment(library)
    report = printed(folder, environ, "verify", *targets)
    found = {
        (run["target"], run["mode"]): (run["verdict"], *told(folder, environ, report, index))
        for index, run in enumerate(report["runs"])
    }
    refuted = [finding for finding in report["findings"] if finding["verdict"] == "refuted"]
    assert not refuted
    if folder == "libraries":  # its README says why, too
        reasons = {(run["target"], run["mode"]): run["reason"] for run in report["runs"]}
        for name, target, mode, verdict, why in rows_of(LIBRARIES, "library"):
            if name == library:
                assert found[target, mode][0] == verdict
                assert why in reasons[target, mode]
    assert {key: found.get(key) for row in rows for key in [(row.target, row.mode)]} == {
        (row.target, row.mode): (row.verdict, row.findings, row.at, row.fix) for row in rows
    }


def mended() -> list[Any]:
    """The folders of our own code, with the runs in which every confirmed finding has a fix that can be applied."""
    rows = [row for row in table() if row.library == "torch" and row.fix]
    rows = [row for row in rows if set(row.fix.split(", ")) <= {"safe", "unsafe"}]
    folders = sorted({row.folder for row in rows})
    return [pytest.param(one, [row for row in rows if row.folder == one], id=one) for one in folders]


@pytest.mark.thorough
@pytest.mark.parametrize(("folder", "rows"), mended())
def test_proven_fixes_mend_the_model(folder: str, rows: list[Row], tmp_path: Path) -> None:
    environ = environment("torch")
    shutil.copytree(ROOT / "examples" / folder, tmp_path / folder)
    command = [*python(), "-m", "exportlint", "check", "model.py", "--fix", "--unsafe-fixes", "--verify"]
    subprocess.run(
        [*command, "--no-cache"], cwd=tmp_path / folder, capture_output=True, check=False, timeout=PATIENCE, env=environ
    )
    report = printed(tmp_path / folder, environ, "verify", *dict.fromkeys(row.target for row in rows))
    verdicts = {(run["target"], run["mode"]): run["verdict"] for run in report["runs"]}
    assert {key: verdicts.get(key) for row in rows for key in [(row.target, row.mode)]} == {
        (row.target, row.mode): "exports" for row in rows
    }
    assert not report["findings"]


def test_some_models_are_mended() -> None:
    assert mended()


def printed(folder: str | Path, environ: dict[str, str], *argv: str) -> Any:
    """What a command prints as JSON in the folder of an example."""
    command = [*python(), "-m", "exportlint", *argv, "--no-cache", "--output-format", "json"]
    done = subprocess.run(
        command, cwd=ROOT / "examples" / folder, capture_output=True, text=True, check=False, timeout=PATIENCE,
        env=environ,
    )  # fmt: skip
    return json.loads(done.stdout)


def told(folder: str, environ: dict[str, str], report: dict[str, Any], index: int) -> tuple[str, str, str]:
    """The findings of a run as the table has them: names, lines of code and fixes."""
    mine = [finding for finding in report["findings"] if finding["run"] == index]
    confirmed = sorted(
        (finding for finding in mine if finding["verdict"] == "confirmed"),
        key=lambda finding: (finding["name"], finding["filename"], finding["location"]["row"]),
    )
    names = {finding["name"] for finding in confirmed}
    if any(finding["verdict"] == "missed" for finding in mine):
        names.add("missed")
    lines = [
        Path(finding["filename"]).read_text(encoding="utf-8").splitlines()[finding["location"]["row"] - 1].strip()
        for finding in confirmed
    ]
    fixes = [fix_of(folder, environ, finding) for finding in confirmed]
    return ", ".join(sorted(names)), "; ".join(lines), ", ".join(fixes)


def fix_of(folder: str, environ: dict[str, str], finding: dict[str, Any]) -> str:
    """How sure the fix is that `exportlint check` offers for a finding that verify confirms, or `none`.

    In a file of a library, only verify knows which model is exported.
    """
    checked = printed(folder, environ, "check", finding["filename"], "--mode", finding["mode"], "--show-info")
    same = [one for one in checked if (one["code"], one["location"]) == (finding["code"], finding["location"])]
    of_library = (ROOT / "examples" / folder) not in Path(finding["filename"]).parents
    assert len(same) == 1 or (of_library and not same), finding
    fix = same[0]["fix"] if same else finding["fix"]
    return fix["applicability"] if fix else "none"


def test_configuration_is_short() -> None:
    for folder in {row.folder for row in table()}:
        text = (ROOT / "examples" / folder / "pyproject.toml").read_text(encoding="utf-8")
        for target in text.split("[[tool.exportlint.verify.target]]")[1:]:
            own = [line for line in target.partition("\n[")[0].splitlines() if line.strip()]
            assert len(own) <= 5, (folder, own)


def test_every_library_has_a_row() -> None:
    assert {row.library for row in table()} == {"torch", "torchvision", "transformers", "ultralytics"}
