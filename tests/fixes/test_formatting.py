"""A file that its formatter has laid out needs no formatting once it is fixed, in nine of ten cases.

The programs are those of the pages and documents, laid out by Ruff.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.fixes.test_variants import PROGRAMS, Program
from tests.patience import PATIENCE

PARTS = 10
"""Every run tries one part in so many."""
MIN_KEPT = 0.9
"""The share of fixed files that Ruff leaves as they are."""


def formatted(texts: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Texts as Ruff lays them out; those that it does not read are left out."""
    directory.mkdir()
    (directory / "ruff.toml").write_text("", encoding="utf-8")
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache", str(directory)]
    subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE)
    return {name: (directory / name).read_text(encoding="utf-8") for name in texts}


def changed_by_formatter(programs: Sequence[Program], directory: Path) -> dict[str, str]:
    """The names of fixed files, each with what it is where Ruff lays it out otherwise, else with nothing."""
    named = {f"case_{number}.py": program for number, program in enumerate(programs)}
    before = formatted({name: program.text for name, program in named.items()}, directory / "before")
    after = {name: program.fixed(before[name]) for name, program in named.items()}
    after = {name: text for name, text in after.items() if text != before[name]}
    laid_out = formatted(after, directory / "after")
    return {named[name].name: "" if text == laid_out[name] else text for name, text in after.items()}


def require_most_kept(programs: Sequence[Program], directory: Path) -> None:
    found = changed_by_formatter(programs, directory)
    changed = [name for name, text in found.items() if text]
    assert len(found) > len(programs) / 2
    assert len(changed) <= (1 - MIN_KEPT) * len(found), changed


def test_most_fixed_files_need_no_formatting(tmp_path: Path) -> None:
    require_most_kept(PROGRAMS[::PARTS], tmp_path)


@pytest.mark.thorough
def test_most_of_all_fixed_files_need_no_formatting(tmp_path: Path) -> None:
    require_most_kept(PROGRAMS, tmp_path)
