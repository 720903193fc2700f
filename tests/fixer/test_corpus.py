"""Fixes of big libraries, on copies: whatever they change still compiles, and fixing it again changes nothing."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterable
from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.edits import apply, places
from exportlint.findings import Applicability, Edit
from exportlint.fixer import fix, write
from exportlint.linter import Task
from exportlint.source import LineIndex

CORPUS = Path(os.environ.get("EXPORTLINT_CORPUS", "."))
LIBRARIES = sorted(p.name for p in CORPUS.iterdir() if p.is_dir()) if "EXPORTLINT_CORPUS" in os.environ else []


def checked_apply(edits: Iterable[Edit], lines: LineIndex) -> str:
    """`apply`, and nothing outside of the edits is another."""
    edits = list(edits)
    after = apply(edits, lines)
    end = position = 0
    for start, stop, content in places(edits, lines):
        kept = lines.text[end:start]
        assert after[position:].startswith(kept + content)
        position += len(kept) + len(content)
        end = stop
    assert after[position:] == lines.text[end:]
    return after


@pytest.mark.corpus
@pytest.mark.skipif(not LIBRARIES, reason="EXPORTLINT_CORPUS is not set")
@pytest.mark.parametrize("library", LIBRARIES)
def test_fixes_of_a_library(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exportlint.fixer.file.apply", checked_apply)
    shutil.copytree(CORPUS / library, tmp_path / library, symlinks=True)
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    tasks = [Task(path, settings) for path in sorted((tmp_path / library).rglob("*.py")) if path.is_file()]
    result = fix(tasks, lambda _: Applicability.UNSAFE, jobs=os.cpu_count() or 1)
    assert [f.message for f in result.remaining.findings if f.code == "EXP004"] == []
    for fixed in result.fixed:
        write(fixed)
        assert fixed.task.path.read_bytes() == fixed.data != fixed.before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(fixed.data, str(fixed.task.path), "exec", dont_inherit=True)
    again = fix(tasks, lambda _: Applicability.UNSAFE, jobs=os.cpu_count() or 1)
    assert [f.task.path for f in again.fixed] == []
    assert again.remaining == result.remaining
