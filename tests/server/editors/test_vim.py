"""Vim and ALE with `editors/vim`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.editors.drive import HERE, Project, Report, find
from tests.server.editors.scenario import Model

pytestmark = pytest.mark.editors


def _drive(tmp_path: Path, model: Model) -> Report:
    vim = find("vim", "EXPORTLINT_VIM")
    script = str(HERE / "ale.vim")
    return Project(tmp_path, model).drive([vim, "-N", "-u", "NONE", "-i", "NONE", "-n", "--not-a-term", "-S", script], "vim")


def test_ale(tmp_path: Path) -> None:
    report = _drive(tmp_path, Model(word="X"))
    print(report.seen.get("client"), report.said, report.seen)
    print(*report.differences(), sep="\n")
    assert report.differences() == []
    assert report.servers_started() == ["server"]
    assert report.servers_ended()
