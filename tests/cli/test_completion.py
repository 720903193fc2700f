"""`exportlint --print-completion`, as the shells themselves understand it."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from exportlint.cli.completion import completion
from tests.cli.runner import CLEAN, Run, write
from tests.patience import PATIENCE

pytest.importorskip("shtab")

CASES = [
    ("", {"check", "verify", "init", "fix-plan", "config"}),
    ("mod", {"models/"}),
    ("--mod", {"--mode"}),
    ("models --wat", {"--watch"}),
    ("check --exit", {"--exit-zero", "--exit-non-zero-on-fix"}),
    ("check --mode ", {"non-strict", "strict"}),
    ("--output-format s", {"sarif"}),
    ("check mod", {"models/"}),
    ("check --config ex", {"exportlint.toml"}),
    ("check --cache-dir mod", {"models/"}),
    ("check --select EXP10", {"EXP101", "EXP102", "EXP107"}),
    ("check --select leav", {"leaving-graph"}),
    ("rule tensor-br", {"tensor-branch"}),
    ("rule --output-format ", {"text", "json"}),
    ("config verify.tim", {"verify.timeout"}),
    ("verify --pyth", {"--python"}),
    ("version --wat", set[str]()),
]


@pytest.fixture
def project(root: Path) -> Path:
    """Where words are completed."""
    write(root, {"models/net.py": CLEAN, "exportlint.toml": "", "notes.txt": ""})
    return root


def shell(*command: str, cwd: Path) -> str:
    return subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
        env={**os.environ, "TERM": "dumb"},
    ).stdout


def test_bash_completes(project: Path, run: Run) -> None:
    result = run("--print-completion", "bash")
    assert (result.code, result.err) == (0, "")
    (project / "script").write_text(result.out)
    asked = "\n".join(f"ask {line if line.split(' ')[-1] else line + chr(39) * 2}" for line, _ in CASES)
    driver = (
        "source ./script\n"
        'ask() { COMP_WORDS=(exportlint "$@"); COMP_CWORD=$#; _shtab_exportlint; echo "${COMPREPLY[*]}"; }\n'
        f"{asked}\ncomplete -p exportlint\n"
    )
    *told, declared = shell("bash", "--norc", "-c", driver, cwd=project).splitlines()
    for (line, expected), words in zip(CASES, told, strict=True):
        if line == "mod":
            assert words == ""
        else:
            assert set(words.split()) >= {word.rstrip("/") for word in expected}, line
            assert bool(words) == bool(expected), line
    # where nothing is known, as at `exportlint mod`, bash itself completes files
    assert "-o default " in declared


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
def test_fish_completes(project: Path) -> None:
    (project / "script.fish").write_text(completion("fish"))
    for line, expected in CASES:
        command = f"source script.fish; complete -C 'exportlint {line}'"
        told = {each.split("\t")[0] for each in shell("fish", "--no-config", "-c", command, cwd=project).splitlines()}
        assert told >= expected, line
        assert bool(told) == bool(expected), line


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
def test_zsh_completes(project: Path) -> None:
    (project / "functions").mkdir()
    (project / "functions" / "_exportlint").write_text(completion("zsh"))
    with zsh(project) as complete:
        for line, expected in CASES:
            # Control-D lists what there is to choose from.
            told = complete(line, "\t" if len(expected) == 1 else "\x04")
            for word in expected:
                end = word if len(expected) > 1 else f"{line.rpartition(' ')[0]} {word}".lstrip()
                assert re.search(rf"(?<![\w-]){re.escape(end)}(?![\w-])", told), (line, told)


@contextmanager
def zsh(cwd: Path) -> Iterator[Callable[[str, str], str]]:
    """A zsh on a terminal, which is given `exportlint` and a line to complete, and shows what it becomes."""
    pty = pytest.importorskip("pty")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(cwd)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "PS1": "ready> ", "COLUMNS": "200"})

    def until(done: str, limit: float = PATIENCE) -> str:
        text, end = "", time.monotonic() + limit
        while not re.search(done, text) and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                text += os.read(terminal, 65536).decode("utf-8", "replace").replace("\r", "")
        return text

    def complete(line: str, key: str) -> str:
        os.write(terminal, f"\x15exportlint {line}{key}".encode())  # Control-U takes out what was there
        return until("(?!)", 1)

    os.write(terminal, b"fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; echo lo''aded\n")
    until("\nloaded")
    until("ready> ", 1)
    try:
        yield complete
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def test_without_shtab_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    result = run("--print-completion", "bash")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error: --print-completion needs the package shtab: install it with `pip install 'exportlint[completions]'`\n"
    )


@pytest.mark.parametrize("argv", [["--print-completion"], ["--print-completion=tcsh"], ["--print-completion", "x"]])
def test_a_shell_has_to_be_one_of_three(run: Run, argv: list[str]) -> None:
    result = run(*argv)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
