"""Emacs with `editors/emacs`: Eglot as a package and of its own, and lsp-mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.editors.programs import EGLOT, EGLOT_30, LSP_MODE
from tests.server.editors.scenario import Model

pytestmark = pytest.mark.editors


def test_eglot(tmp_path: Path) -> None:
    EGLOT.run(tmp_path).check()


def test_eglot_30(tmp_path: Path) -> None:
    EGLOT_30.run(tmp_path).check()


def test_lsp_mode(tmp_path: Path) -> None:
    LSP_MODE.run(tmp_path).check()


def test_lsp_mode_counts_code_points(tmp_path: Path) -> None:
    """What `editors/emacs/README.md` warns of; if this fails, lsp-mode has learnt to count."""
    report = LSP_MODE.run(tmp_path, wait=10, model=Model())
    opened = report.state("opened")
    assert opened is not None
    assert opened.findings[0] == (8, "EXP602", "ype(x) is torch.Tensor ")
