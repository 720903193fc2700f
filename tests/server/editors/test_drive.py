"""What the tests with editors rely on: servers that stay are noticed, editors that are not there are said to be."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.server.editors import drive
from tests.server.editors.drive import Project
from tests.server.editors.programs import Program
from tests.server.editors.scenario import Model

MISSING = Program("EXPORTLINT_NO_EDITOR", (), "neovim", "no-such-editor")


def test_a_server_that_stays_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, Model(), ["-c", "import time; print('up', flush=True); time.sleep(60)"])
    with subprocess.Popen(
        ["exportlint", "server"],
        env=project.environment,
        stdout=subprocess.PIPE,
        executable=tmp_path / "bin/exportlint",
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"up\n"
        assert project.starts == ["server"]
        monkeypatch.setattr(drive, "GONE", 0.2)
        assert not project.ended()
        server.kill()
    assert project.ended()


def test_without_the_editor_it_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPORTLINT_EDITORS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="EXPORTLINT_NO_EDITOR is to name one"):
        MISSING.run(tmp_path)


def test_without_the_editor_it_fails_where_that_is_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPORTLINT_EDITORS", "require")
    with pytest.raises(pytest.fail.Exception, match="EXPORTLINT_NO_EDITOR is to name one"):
        MISSING.run(tmp_path)
