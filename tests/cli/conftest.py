from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from exportlint.cli import main
from tests.cli.marked import marked
from tests.cli.runner import Result, Run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, away from the settings and the environment of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith(("EXPORTLINT_", "CLICOLOR")) or name in ("NO_COLOR", "FORCE_COLOR", "VIRTUAL_ENV", "TERM"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    directory = tmp_path / "root"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs exportlint in `root`."""

    def run(*argv: str | Path, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(word) for word in argv])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)

    return run


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments say which fixes there are, and no rule is asked."""
    monkeypatch.setattr("exportlint.workspace.check_file", lambda *arguments: list(marked(*arguments)))
