"""Neovim with `editors/neovim`: the current one, and the oldest that there is a configuration for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.editors.programs import NEOVIM, NEOVIM_07

pytestmark = pytest.mark.editors


def test_neovim(tmp_path: Path) -> None:
    NEOVIM.run(tmp_path).check()


def test_neovim_07(tmp_path: Path) -> None:
    NEOVIM_07.run(tmp_path).check()
