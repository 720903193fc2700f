"""The editors that the tests can run, and how."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from tests.server.editors.drive import EXPORTLINT, WAIT, Project, Report
from tests.server.editors.scenario import Model

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """An editor, its script, and its directory in `editors/`. `command` is looked for on PATH if it is not empty."""

    variable: str
    arguments: tuple[str, ...]
    configuration: str
    command: str = ""
    model: Model = Model()  # noqa: RUF009 - it is frozen

    def find(self) -> str:
        """The editor that the environment names, or that is on PATH.

        Without one the test is skipped, or fails if EXPORTLINT_EDITORS is `require`.
        """
        named = os.environ.get(self.variable) or self.command
        found = shutil.which(named) if named else None
        if found is None:
            do_without(f"no {self.command or self.configuration}: {self.variable} is to name one")
        return found

    def run(
        self, root: Path, command: Sequence[str] = EXPORTLINT, wait: float = WAIT, model: Model | None = None
    ) -> Report:
        """Let it follow the plan in a new project in `root`."""
        editor = self.find()
        report = Project(root, model or self.model, command).drive([editor, *self.arguments], self.configuration, wait)
        if "missing" in report.seen:
            do_without(f"{editor} has no {report.seen['missing']}")
        return report


def do_without(reason: str) -> NoReturn:
    """Skip the test, or fail it where editors are required."""
    if os.environ.get("EXPORTLINT_EDITORS") == "require":
        pytest.fail(reason)
    pytest.skip(reason)


_NEOVIM = ("--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {_HERE / 'neovim.lua'}")
_EMACS = ("-Q", "--batch", "-l")

NEOVIM = Program("EXPORTLINT_NVIM", _NEOVIM, "neovim", "nvim")
NEOVIM_07 = Program("EXPORTLINT_NVIM_07", _NEOVIM, "neovim")
EGLOT = Program("EXPORTLINT_EMACS", (*_EMACS, str(_HERE / "emacs-eglot.el")), "emacs", "emacs")
EGLOT_30 = Program("EXPORTLINT_EMACS_30", (*_EMACS, str(_HERE / "emacs-eglot.el")), "emacs")
LSP_MODE = Program("EXPORTLINT_EMACS", (*_EMACS, str(_HERE / "emacs-lsp.el")), "emacs", "emacs", Model(word="é"))
ALE = Program(
    "EXPORTLINT_VIM",
    ("-N", "-u", "NONE", "-i", "NONE", "-n", "--not-a-term", "-S", str(_HERE / "ale.vim")),
    "vim",
    "vim",
    Model(word="X"),
)
