"""Neovim with `editors/neovim`: the current one, and the oldest that the configuration is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.editors.drive import HERE, Project, find
from tests.server.editors.scenario import Model

pytestmark = pytest.mark.editors


@pytest.mark.parametrize("variable", ["EXPORTLINT_NVIM", "EXPORTLINT_NVIM_07"])
def test_neovim(tmp_path: Path, variable: str) -> None:
    nvim = find("nvim", variable)
    report = Project(tmp_path, Model()).drive(
        [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {HERE / 'neovim.lua'}"], "neovim"
    )
    print(report.seen.get("client"), report.said)
    print(*report.differences(), sep="\n")
    assert report.differences() == []
    assert report.servers_started() == ["server"]
    assert report.servers_ended()
