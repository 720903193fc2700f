"""The accuracy page agrees with the data that it is made of, and measuring a library says what torch.export does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[1]
DATA = PROJECT / "docs" / "accuracy"
PAGE = PROJECT / "docs" / "accuracy.md"

LIBRARY = {
    "toylib/__init__.py": "",
    "toylib/models.py": """
import torch
from torch import nn


class Gate(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x * 2
        x = x + 1
        return x


class Plain(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.layer = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layer(x)
        x = x.relu()
        x = x * 2
        return x
""",
    "toylib-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: toylib\nVersion: 1.5\n",
    "toylib-1.5.dist-info/top_level.txt": "toylib\n",
}


def records(files: str = "*.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(DATA.glob(files)) for line in file.read_text("utf-8").splitlines()]


def test_page_is_made_of_the_data() -> None:
    result = run("--check")
    assert (result.returncode, result.stderr) == (0, "")


def test_check_sees_another_page(tmp_path: Path) -> None:
    (tmp_path / "accuracy").mkdir()
    (tmp_path / "accuracy.md").write_text("# Accuracy\n")
    result = run("--check", "--docs", str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith("docs/accuracy.md is not what the data say: run `python")


def test_totals_are_those_of_the_data() -> None:
    built = [record for record in records() if record["verdict"] != "cannot be built"]
    page = PAGE.read_text("utf-8")
    for mode in ("non-strict", "strict"):
        claims: dict[tuple[object, ...], set[str]] = {}
        for record in (record for record in built if record["mode"] == mode):
            for held in (held for held in record["findings"] if held["severity"] == "error"):
                site = (record["library"], record["batch"], held["file"], held["row"], held["rule"])
                claims.setdefault(site, set()).add(held["ruling"])
        right = sum("confirmed" in rulings for rulings in claims.values())
        decided = sum(bool(rulings & {"confirmed", "refuted"}) for rulings in claims.values())
        [row] = [line for line in page.splitlines() if line.startswith(f"| {mode} | both |")]
        expected = f"{right}/{decided} ({100 * right / decided:.1f} %)" if decided else "-"
        assert row.split("|")[8].strip() == expected


def test_each_refuted_error_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    confirmed = {
        site(record, held) for record in records() for held in record["findings"] if is_ruled(held, "confirmed")
    }
    for record in records():
        for held in record["findings"]:
            if (
                is_ruled(held, "refuted")
                and site(record, held) not in confirmed
                and record["verdict"] != "cannot be built"
            ):
                assert f"| {held['file']} | {held['row']} | {held['rule']} |" in page


def is_ruled(held: Mapping[str, Any], ruling: str) -> bool:
    return bool(held["severity"] == "error" and held["ruling"] == ruling)


def site(record: Mapping[str, Any], held: Mapping[str, Any]) -> tuple[object, ...]:
    return record["library"], record["mode"], record["batch"], held["file"], held["row"], held["rule"]


def test_data_hold_neither_code_nor_places_of_a_machine() -> None:
    for record in records("**/*.jsonl"):
        assert not re.search(r"site-packages|(?<![\w.>\-\])}])/\w+/", json.dumps(record))
        texts = [record["error"], *(missed["message"] for missed in record["missed"])]
        assert all(len(text) <= 200 and "\n" not in text for text in texts)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    for name, text in LIBRARY.items():
        file = folder / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "docs").mkdir()
    result = run(*arguments(folder), PYTHONPATH=str(folder / "site"))
    assert result.returncode == 0, result.stderr
    return folder


def arguments(folder: Path) -> list[str]:
    return ["--library", "toylib", "--docs", str(folder / "docs"), "--runs", str(folder / "runs"), "-j", "1"]


def of_toylib(folder: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    lines = (folder / "docs" / "accuracy" / "toylib.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return {(record["model"].partition(":")[2], record["mode"], record["batch"]): record for record in found}


@pytest.mark.thorough
def test_each_model_is_exported_in_each_mode_with_each_batch(measured: Path) -> None:
    found = of_toylib(measured)
    modes = [(mode, batch) for mode in ("non-strict", "strict") for batch in ("static", "dynamic")]
    assert found.keys() == {(name, *both) for name in ("Gate", "Plain") for both in modes}
    assert {record["verdict"] for (name, *_), record in found.items() if name == "Plain"} == {"exports"}
    for record in (record for (name, *_), record in found.items() if name == "Gate"):
        assert (record["verdict"], record["file"], record["row"]) == ("fails", "toylib/models.py", 8)
        [held] = record["findings"]
        assert (held["rule"], held["row"], held["ruling"]) == ("EXP101", 8, "confirmed")
        assert (record["version"], record["missed"]) == ("1.5", [])


@pytest.mark.thorough
def test_page_tells_of_what_was_measured(measured: Path) -> None:
    page = (measured / "docs" / "accuracy.md").read_text("utf-8")
    assert "2 models\nof 1 published" in page
    assert "| toylib | 1.5 | 2 | 0 | 4/4 (100.0 %) | - | 4/4 (100.0 %) | 4/4 (100.0 %) |" in page
    assert "| EXP101 | error | 4/4 (100.0 %) | 0 | 0 |" in page


@pytest.mark.thorough
def test_what_is_on_record_is_not_run_again(measured: Path) -> None:
    file = measured / "docs" / "accuracy" / "toylib.jsonl"
    before = file.read_text("utf-8")
    marked = before.replace('"seconds": ', '"seconds": 1000')
    file.write_text(marked)
    folder = measured / "elsewhere"  # results of runs that are not kept
    result = run(*arguments(measured), "--runs", str(folder), PYTHONPATH=str(measured / "site"))
    after = file.read_text("utf-8")
    file.write_text(before)
    assert result.returncode == 0, result.stderr
    assert after == marked


@pytest.mark.thorough
def test_unknown_library_is_named(tmp_path: Path) -> None:
    result = run("--library", "no_such_library", "--docs", str(tmp_path))
    assert result.returncode == 2
    assert result.stderr.strip().endswith(
        "has no package `no_such_library`: install it there, or name another --python"
    )


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script with this Python."""
    command = [sys.executable, "scripts/measure_libraries.py", *arguments]
    return subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
