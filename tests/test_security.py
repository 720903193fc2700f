"""The table of docs/security.md, row by row: what a stranger's folder can and cannot bring about."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from exportlint.config import ConfigError, Configuration
from exportlint.config.toml import MAX_BYTES
from tests.cli.runner import NET
from tests.documents import PROJECT
from tests.forking import python
from tests.patience import PATIENCE
from tests.sampling import each_value, one_in

_T = TypeVar("_T")
Message = dict[str, Any]

ROWS: dict[str, str] = {}
"""The rows of the table, by the test that holds each."""


def row(start: str) -> Callable[[_T], _T]:
    """The test is about the row of the table whose first cell is `start`."""

    def mark(test: _T) -> _T:
        ROWS[start] = getattr(test, "__name__", "")
        return test

    return mark


def run(
    command: Sequence[str | os.PathLike[str]], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run something in a folder; it must end by itself."""
    around = {name: value for name, value in os.environ.items() if not name.startswith(("EXPORTLINT_", "PYTHON"))}
    return subprocess.run(
        command,
        cwd=folder,
        env={**around, "XDG_CONFIG_HOME": str(folder / ".user"), **environment},
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a stranger."""
    made = tmp_path / "folder"
    made.mkdir()
    (made / "net.py").write_text(NET, encoding="utf-8")
    return made


SHADOWS = (
    "json", "ast", "argparse", "tokenize", "pickle", "multiprocessing", "concurrent", "html", "libcst", "torch",
    "tomllib", "tomli", "platformdirs", "pygls", "lsprotocol", "cattrs", "numpy", "sitecustomize", "usercustomize",
    "conftest", "setup", "__init__", "__main__",
)  # fmt: skip
MARKER = "import os; open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'RAN'), 'a').write(__file__ + ' ')\n"


@pytest.fixture
def shadowing(folder: Path) -> Path:
    """The same with files that are called like modules that exportlint needs. Each says so if it runs."""
    for name in SHADOWS:
        (folder / f"{name}.py").write_text(MARKER, encoding="utf-8")
    return folder


def ran(folder: Path) -> str:
    """What ran."""
    marker = folder / "RAN"
    return marker.read_text(encoding="utf-8") if marker.exists() else ""


SCRIPT = "import sys\nfrom exportlint.cli import main\nsys.exit(main())\n"


@row("a file with the name of a module that exportlint imports, such as `json.py`")
@pytest.mark.parametrize("way", one_in(2, ["python -m exportlint", "python -P -m exportlint", "exportlint"]))
def test_no_file_is_imported_because_of_its_name(shadowing: Path, tmp_path: Path, way: str) -> None:
    if "-P" in way and sys.version_info < (3, 11):
        pytest.skip("this Python has no -P")
    script = tmp_path / "bin" / "exportlint"
    script.parent.mkdir()
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, script] if way == "exportlint" else [sys.executable, *way.split()[1:]]
    if "-P" in way or way == "exportlint":
        (shadowing / "exportlint.py").write_text(MARKER, encoding="utf-8")
    for arguments in (("check", "--jobs", "2"), ("check", "--diff"), ("rule", "EXP101"), ("verify", "--list")):
        done = run([*command, *arguments], shadowing)
        assert done.returncode in (0, 1), done.stderr
    assert ran(shadowing) == ""


SPAWNED = """
import sys
from exportlint import workers

sys.platform = "darwin"  # where processes are not forked
sys.path[:] = [entry for entry in sys.path if entry]

if __name__ == "__main__":
    from exportlint.cli import main
    sys.exit(main(["check", "--jobs", "2"]))
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="this Python cannot be kept from it")
@pytest.mark.thorough
def test_nor_does_a_process_that_is_spawned(shadowing: Path, tmp_path: Path) -> None:
    script = tmp_path / "spawned.py"
    script.write_text(SPAWNED, encoding="utf-8")
    done = run([sys.executable, script], shadowing)
    assert (done.returncode, ran(shadowing)) == (1, ""), done.stderr
    assert "EXP101" in done.stdout


@pytest.mark.thorough
def test_the_server_imports_nothing_of_the_folder_either(shadowing: Path) -> None:
    params: Message = {"processId": None, "rootUri": shadowing.as_uri(), "capabilities": {}}
    item = {"uri": (shadowing / "net.py").as_uri(), "languageId": "python", "version": 1, "text": NET}
    messages: list[Message] = [
        {"id": 1, "method": "initialize", "params": params},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": item}},
        {
            "id": 2,
            "method": "textDocument/hover",
            "params": {"textDocument": {"uri": item["uri"]}, "position": {"line": 6, "character": 12}},
        },
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "exportlint", "server"],
        cwd=shadowing,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        server.stdin.flush()
        answers: list[Message] = []
        while not any(answer.get("id") == 2 for answer in answers):
            length = int(server.stdout.readline().split()[1])
            while server.stdout.readline().strip():
                pass
            answers.append(json.loads(server.stdout.read(length)))
        server.stdin.close()
        server.stdout.read()
        server.wait(60)
    assert "EXP101" in str(answers[-1]["result"])
    assert ran(shadowing) == ""


@row("the code that is linted")
def test_linting_runs_no_code(folder: Path) -> None:
    (folder / "net.py").write_text(MARKER + NET, encoding="utf-8")
    (folder / "evil.pth").write_text(MARKER, encoding="utf-8")
    done = run([*python(), "-m", "exportlint", "check", "--fix", "--output-format", "concise"], folder)
    assert "Traceback" not in done.stderr
    assert ran(folder) == ""


@row("`python` in `[tool.exportlint.verify]`, `.venv`")
def test_linting_runs_no_interpreter_of_the_folder(folder: Path) -> None:
    program = folder / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ntouch '{folder / 'RAN'}'\n", encoding="utf-8")
    program.chmod(0o755)
    (folder / "exportlint.toml").write_text('[verify]\npython = ".venv/bin/python"\n', encoding="utf-8")
    for arguments in (("check",), ("check", "--show-settings"), ("verify", "--list")):
        done = run([sys.executable, "-m", "exportlint", *arguments], folder, VIRTUAL_ENV=str(folder / ".venv"))
        assert done.returncode in (0, 1), done.stderr
    assert not (folder / "RAN").exists()
    # and verify, which is asked to run it, does
    run([sys.executable, "-m", "exportlint", "verify", "net.py"], folder)
    assert (folder / "RAN").exists()


@pytest.mark.thorough
@row("the names of files that verify imports")
def test_what_verify_runs_with_is_not_replaced_by_files_of_the_project(shadowing: Path) -> None:
    """The project runs, as it is asked to, but only what its models import, and torch is torch."""
    (shadowing / "exportlint.py").write_text(MARKER, encoding="utf-8")
    (shadowing / "__init__.py").unlink()  # which importing a module of the folder imports
    (shadowing / "net.py").write_text(NET + "\nimport json, torch\nassert hasattr(torch, 'export')\n", encoding="utf-8")
    done = run(
        [sys.executable, "-P", "-m", "exportlint", "verify", "net.py", "--python", sys.executable, "--no-cache"],
        shadowing,
    )
    assert "net:Net" in done.stdout, done.stderr
    assert "GuardOnDataDependentSymNode" in done.stdout
    assert ran(shadowing) == ""


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _huge(path: Path) -> None:
    path.write_text("#" * (MAX_BYTES + 1), encoding="utf-8")


def _folder(path: Path) -> None:
    path.mkdir()


ODD: dict[str, Callable[[Path], None]] = {"pipe": _pipe, "zeros": _zeros, "huge": _huge, "folder": _folder}


@row("`extend` in a configuration file")
@pytest.mark.skipif(os.name == "nt", reason="makes pipes and links as POSIX does")
@pytest.mark.parametrize("kind", ODD)
def test_extend_reads_configuration_files_only(folder: Path, kind: str) -> None:
    ODD[kind](folder / "base.toml")
    (folder / "exportlint.toml").write_text('extend = "base.toml"\n', encoding="utf-8")
    done = run([*python(), "-m", "exportlint", "check"], folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: [^\n]*base\.toml[^\n]*\n", done.stderr)


def test_nor_does_it_go_on_for_ever(folder: Path) -> None:
    for number in range(2000):
        (folder / f"{number}.toml").write_text(f'extend = "{number + 1}.toml"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="`extend`: more than 32 files extend each other"):
        Configuration(folder, file=folder / "0.toml")
    (folder / "5.toml").write_text('extend = "3.toml"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="`extend` is circular"):
        Configuration(folder, file=folder / "0.toml")


def test_nor_does_it_tell_what_else_a_file_holds(folder: Path, tmp_path: Path) -> None:
    """Of a file of the user's that is not a configuration, a message says no more than where it is not one."""
    (tmp_path / "secret").write_text("password hunter2\n", encoding="utf-8")
    (folder / "exportlint.toml").write_text('extend = "../secret"\n', encoding="utf-8")
    done = run([*python(), "-m", "exportlint", "check"], folder)
    assert done.returncode == 2
    assert "hunter2" not in done.stderr


@row("a configuration file that is a pipe, a device or huge")
@pytest.mark.skipif(os.name == "nt", reason="makes pipes and links as POSIX does")
@pytest.mark.parametrize(("name", "kind"), each_value(["exportlint.toml", "pyproject.toml", ".gitignore"], [*ODD]))
def test_no_file_that_is_found_is_waited_for(folder: Path, name: str, kind: str) -> None:
    ODD[kind](folder / name)
    (folder / ".git").mkdir()
    done = run([*python(), "-m", "exportlint", "check", "--output-format", "concise"], folder)
    if kind == "huge" and name == "exportlint.toml":
        assert done.returncode == 2
        assert re.fullmatch(rf"error: [^\n]*cannot be read: it has more than {MAX_BYTES} bytes\n", done.stderr)
    elif kind == "huge" and name == "pyproject.toml":
        assert done.returncode == 2
    else:
        assert (done.returncode, done.stderr) == (1, "")


@row("a number with thousands of digits, or endless nesting, in a configuration file")
@pytest.mark.parametrize("text", ["a = " + "1" * 5000, "a = " + "[" * 100_000, "[" + "a." * 400_000 + "b]"])
def test_a_configuration_that_toml_cannot_hold_is_an_error(folder: Path, text: str) -> None:
    (folder / "exportlint.toml").write_text(text, encoding="utf-8")
    done = run([*python(), "-m", "exportlint", "check"], folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: [^\n]{,400}\n", done.stderr), done.stderr[:2000]


@row("`fix = true` and other settings for fixes in a configuration file")
def test_settings_of_fixes_change_files_of_the_folder_only(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "mine.py"
    outside.write_text(NET, encoding="utf-8")
    (folder / "exportlint.toml").write_text(
        'fix = true\nunsafe-fixes = true\nsrc = [".."]\ninclude = ["../*.py", "*.py"]\n', encoding="utf-8"
    )
    run([*python(), "-m", "exportlint", "check", "--isolated"], folder)
    assert (folder / "net.py").read_text(encoding="utf-8") == NET
    run([*python(), "-m", "exportlint", "check"], folder)
    assert (folder / "net.py").read_text(encoding="utf-8") != NET
    assert outside.read_text(encoding="utf-8") == NET


@row("a symbolic link that leads out of the folder")
@pytest.mark.skipif(os.name == "nt", reason="makes links as POSIX does")
@pytest.mark.parametrize(
    ("flags", "kind"),
    each_value([("--fix",), ("--fix-only",), ("--add-ignore",), ("--fix", "--unsafe-fixes")], ["file", "folder"]),
)
def test_no_file_outside_is_changed(folder: Path, tmp_path: Path, flags: tuple[str, ...], kind: str) -> None:
    outside = tmp_path / "outside" / "mine.py"
    outside.parent.mkdir()
    outside.write_text(NET, encoding="utf-8")
    link = folder / "linked.py" if kind == "file" else folder / "linked"
    link.symlink_to(outside if kind == "file" else outside.parent)
    done = run([*python(), "-m", "exportlint", "check", *flags, "."], folder)
    assert done.returncode in (0, 1), done.stderr
    assert outside.read_text(encoding="utf-8") == NET
    assert (folder / "net.py").read_text(encoding="utf-8") != NET
    if flags[0] != "--add-ignore":
        assert re.search(r"warning: [^\n]*: not fixed, because it is reached through a link", done.stderr)
    # whoever names it wants it
    shown = link if kind == "file" else link / "mine.py"
    run([*python(), "-m", "exportlint", "check", *flags, shown], folder)
    assert outside.read_text(encoding="utf-8") != NET


_START = '{"nbformat": 4, "nbformat_minor": 5, "cells": [], "metadata": '
NOTEBOOKS = {
    "deep": '{"cells": ' + "[" * 200_000,
    "deep and closed": '{"cells": ' + "[" * 200_000 + "]" * 200_000 + "}",
    "deep metadata": _START + '{"a":' * 100_000 + "1" + "}" * 100_001,
    "a number": '{"nbformat": ' + "9" * 10_000 + ', "cells": [], "metadata": {}}',
    "a language": _START + '{"kernelspec": {"language": ["python"]}}}',
    "a kernel": _START + '{"kernelspec": {"argv": ["/bin/sh"]}}}',
}


@row("the metadata of a notebook")
@pytest.mark.parametrize("name", one_in(3, NOTEBOOKS))
def test_a_notebook_chooses_nothing(folder: Path, name: str) -> None:
    (folder / "book.ipynb").write_text(NOTEBOOKS[name], encoding="utf-8")
    done = run([*python(), "-m", "exportlint", "check", "--output-format", "json"], folder)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    codes = {(finding["code"], Path(finding["filename"]).name) for finding in json.loads(done.stdout)}
    assert ("EXP101", "net.py") in codes
    assert "EXP004" not in {code for code, _ in codes}, "an internal error"


@row("an environment variable")
def test_what_the_environment_can_say(folder: Path) -> None:
    """Variables are the user's own; the token is not handed on to programs that are started."""
    code = (
        "import os, sys\n"
        "from exportlint.server import tokens\n"
        "print(tokens.given(None), 'EXPORTLINT_SERVER_TOKEN' in os.environ)\n"
    )
    done = run([sys.executable, "-c", code], folder, EXPORTLINT_SERVER_TOKEN="0123456789abcdef")
    assert done.stdout == "0123456789abcdef False\n"


ELSEWHERE = {
    "an installed package with entry points `exportlint.rules` or `exportlint.functions`": "tests/test_own_rules.py",
    "patterns in `.gitignore` and in settings such as `exclude`": "tests/source/test_globs.py",
    "`.exportlint_cache` in a folder": "tests/cli/test_cache.py",
    "`cache-dir` in a configuration file": "tests/cli/test_cache.py",
    "`--log-file`": "tests/server/test_strangers.py",
    "a web page, or another user of the machine": "tests/server/test_strangers.py",
    "`logFile` in what a client sends": "tests/server/test_settings.py",
    "`exportlint.path`, `.interpreter`, `.importStrategy`, `.configuration`, `.verify.python`, `.logFile` in VS Code's "
    "settings": ("editors/vscode/test/unit/manifest.test.ts"),
    "names and texts in reports": "tests/test_hostile_reports.py",
    "the socket of a waiting verify worker": "tests/verify/test_warm.py",
}
"""The rows that are held elsewhere."""


def test_each_row_of_the_table_is_held_by_a_test() -> None:
    text = (PROJECT / "docs" / "security.md").read_text(encoding="utf-8")
    table = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    assert sorted(cells[0].removeprefix("| ") for cells in table) == sorted([*ROWS, *ELSEWHERE])
    assert all((PROJECT / file).is_file() for file in ELSEWHERE.values())
