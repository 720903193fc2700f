"""`docs/exportlint.1` is the page of today's parser, and is shown as one."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.cli.parser import build
from tests.documents import PROJECT
from tests.patience import PATIENCE

PAGE = PROJECT / "docs" / "exportlint.1"


def test_the_page_is_current(tmp_path: Path) -> None:
    written = tmp_path / "exportlint.1"
    subprocess.run(
        [sys.executable, "scripts/generate_man_page.py", str(written)], cwd=PROJECT, check=True, timeout=PATIENCE
    )
    assert PAGE.read_text(encoding="utf-8") == written.read_text(encoding="utf-8"), (
        "python scripts/generate_man_page.py"
    )


def shown() -> str:
    """The page as a terminal shows it, on lines wide enough for each sentence."""
    if shutil.which("man") and subprocess.run(["man", "--version"], capture_output=True, check=False).returncode == 0:
        command = ["man", "--local-file", str(PAGE)]
    elif shutil.which("groff"):
        command = ["groff", "-man", "-Tutf8", "-rLL=250n", str(PAGE)]
    else:
        pytest.skip("needs man or groff")
    environment = {**os.environ, "MANWIDTH": "250", "MAN_KEEP_FORMATTING": "", "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"}
    result = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=True, timeout=PATIENCE, env=environment
    )
    assert result.stderr == ""
    return re.sub(".\b", "", result.stdout).replace("\N{HYPHEN}", "-").replace("\N{MINUS SIGN}", "-")


def test_man_shows_every_command_flag_and_help() -> None:
    text = shown()
    words = " ".join(text.split())
    _, commands = build()
    sections = dict(re.findall(r"^ {3}exportlint (\S+)\n(.*?)(?=^ {0,3}\S|\Z)", text, re.MULTILINE | re.DOTALL))
    assert set(sections) == set(commands)
    for name, command in commands.items():
        section = " ".join(sections[name].split())
        assert (command.description or "?") in section
        for action in command._actions:
            if isinstance(action, argparse._HelpAction):
                continue
            for flag in action.option_strings:
                assert re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", section), (name, flag)
            assert (action.help or "?").replace("`", "").replace("%%", "%") in section, (name, action.dest)
    assert "--print-completion" in words
    assert [line for line in text.splitlines() if "\\" in line or "`" in line] == []


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_groff_has_nothing_to_warn_of() -> None:
    result = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", str(PAGE)],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert result.stderr == ""
