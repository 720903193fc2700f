"""Vim and ALE with `editors/vim`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.editors.programs import ALE
from tests.server.editors.scenario import Model

pytestmark = pytest.mark.editors


def test_ale(tmp_path: Path) -> None:
    ALE.run(tmp_path).check()


def test_ale_counts_bytes(tmp_path: Path) -> None:
    """What `editors/vim/README.md` warns of; if this fails, ALE has learnt to count."""
    report = ALE.run(tmp_path, wait=10, model=Model())
    opened = report.state("opened")
    assert opened is not None
    assert opened.findings[0] == (8, "EXP602", "f type(x) is torch.Tens")
