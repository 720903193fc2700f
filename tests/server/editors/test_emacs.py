"""Emacs with `editors/emacs`: Eglot and lsp-mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.editors.drive import HERE, Project, find
from tests.server.editors.scenario import Model

pytestmark = pytest.mark.editors


@pytest.mark.parametrize("variable", ["EXPORTLINT_EMACS", "EXPORTLINT_EMACS_30"])
def test_eglot(tmp_path: Path, variable: str) -> None:
    emacs = find("emacs", variable)
    report = Project(tmp_path, Model()).drive([emacs, "-Q", "--batch", "-l", str(HERE / "emacs-eglot.el")], "emacs")
    print(report.seen.get("client"), report.said)
    print(*report.differences(), sep="\n")
    assert report.differences() == []
    assert report.servers_started() == ["server"]
    assert report.servers_ended()


def test_lsp_mode(tmp_path: Path) -> None:
    emacs = find("emacs", "EXPORTLINT_EMACS")
    report = Project(tmp_path, Model(word="X")).drive([emacs, "-Q", "--batch", "-l", str(HERE / "emacs-lsp.el")], "emacs")
    print(report.seen.get("client"), report.said)
    print(*report.differences(), sep="\n")
    assert report.differences() == []
    assert report.servers_started() == ["server"]
    assert report.servers_ended()
