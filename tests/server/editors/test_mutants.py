"""The tests with real editors notice a server that is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.editors.programs import ALE, EGLOT, NEOVIM, Program

pytestmark = pytest.mark.editors

MUTANTS = Path(__file__).parents[1] / "mutants"
PROGRAMS = [pytest.param(NEOVIM, id="neovim"), pytest.param(EGLOT, id="emacs"), pytest.param(ALE, id="ale")]


def broken(program: Program, mutant: str, root: Path) -> dict[str, str]:
    """What an editor shows that it should not with such a server."""
    return program.run(root, [str(MUTANTS / f"{mutant}.py")], wait=10).differences()


@pytest.mark.parametrize("program", PROGRAMS[:2])  # ALE itself counts something else
def test_columns_in_code_points(program: Program, tmp_path: Path) -> None:
    assert next(iter(broken(program, "columns_in_code_points", tmp_path))) == "opened"


@pytest.mark.parametrize("program", PROGRAMS)
def test_edits_one_line_off(program: Program, tmp_path: Path) -> None:
    assert next(iter(broken(program, "edits_one_line_off", tmp_path))) == "quickfix"


@pytest.mark.parametrize("program", PROGRAMS)
def test_deaf_to_changes(program: Program, tmp_path: Path) -> None:
    different = broken(program, "deaf_to_changes", tmp_path)
    assert next(iter(different)) == "quickfix"
    assert "EXP602" in different["quickfix"].split(" instead of ")[0]
