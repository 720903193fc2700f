"""What a terminal shows: reports of its width, progress, Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata
from pathlib import Path

import pytest

from exportlint.config.torch_version import NEWEST
from tests.cli.runner import NET, Run, write
from tests.forking import python
from tests.patience import PATIENCE
from tests.sampling import each_value, one_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals and signals")

LONG = NET.replace("x.sum() > 0", f"{' + '.join(['x.sum()'] * 20)} > 0")


def on_terminal(root: Path, *argv: str, columns: int, setup: str = "", **environment: str) -> str:
    """What a terminal of so many columns gets, without colours and the moves of its cursor."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    code = f"{setup}\nfrom exportlint.cli import main\nraise SystemExit(main())"
    inherited = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    process = subprocess.Popen(
        [*python(), "-c", code, *argv],
        cwd=root, stdin=theirs, stdout=theirs, stderr=theirs, env={**inherited, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    except OSError:  # Linux says so that the other end is closed
        pass
    os.close(ours)
    process.wait(60)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(parts).decode()).replace("\r\n", "\n")


def columns_of(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


@pytest.mark.parametrize(
    ("columns", "output_format", "text"),
    each_value([40, 60, 200, 50], ["full", "concise"], [NET, LONG, LONG.replace("x.sum()", "x.sum()*'中'")]),
)
def test_reports_are_as_wide_as_the_terminal(root: Path, columns: int, output_format: str, text: str) -> None:
    write(root, {"m.py": text})
    out = on_terminal(root, "m.py", "--isolated", "--output-format", output_format, columns=columns)
    report = out.partition("Found 1 finding")[0]
    assert "EXP101" in report
    words = [line for line in report.splitlines() if columns_of(line) > columns]
    assert words == []
    if output_format == "full":
        assert "^^^" in report


def test_nothing_is_lost_by_wrapping(root: Path, run: Run) -> None:
    write(root, {"m.py": NET})
    piped = run("m.py", "--isolated", "--output-format", "concise").out
    shown = on_terminal(root, "m.py", "--isolated", "--output-format", "concise", columns=50)
    assert shown != piped
    assert shown.split() == piped.split()
    assert on_terminal(root, "m.py", "--isolated", "--output-format", "concise", columns=50, COLUMNS="500") == piped


def test_what_is_piped_has_no_width(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"m.py": LONG})
    wide = run("m.py").out
    monkeypatch.setenv("COLUMNS", "40")
    assert run("m.py").out == wide


AT_ONCE = "import exportlint.cli.lint_progress as p; p._PATIENCE = 0"
SLOWLY = f"""{AT_ONCE}
import exportlint.linter as l, time
look = l._look
l._look = lambda workspace, task: (time.sleep(0.3), look(workspace, task))[1]
"""


@pytest.mark.parametrize(("flag", "shown"), one_in(2, [("--no-fix", True), ("-q", False)]))
def test_a_long_run_shows_how_far_it_is(root: Path, flag: str, shown: bool) -> None:
    pytest.importorskip("rich")
    write(root, {"a.py": NET, "b.py": NET})
    argv = ("--isolated", "--output-format", "concise", flag)
    assert ("/2" in on_terminal(root, *argv, columns=100, setup=SLOWLY)) is shown
    assert "/2" not in on_terminal(root, *argv, columns=100)
    without_rich = f"import sys; sys.modules['rich.console'] = None\n{SLOWLY}"
    assert "/2" not in on_terminal(root, *argv, columns=100, setup=without_rich)
    code = f"{SLOWLY}\nfrom exportlint.cli import main\nraise SystemExit(main())"
    piped = subprocess.run([*python(), "-c", code, *argv], cwd=root, capture_output=True, text=True, check=False)
    assert (piped.returncode, piped.stderr, "/2" in piped.stdout) == (1, "", False)


BUSY = NET + "".join(f"        if x.shape[0] > {i}: x = x + y{i}\n" for i in range(20_000)).join(
    ["\n\nclass Busy(nn.Module):\n    def forward(self, x):\n", "        return x\n"]
)
"""A file that takes many seconds."""


SAYS_THAT_IT_BEGINS = """
from exportlint import cli
run = cli._run
cli._run = lambda argv: print("up", flush=True) or run(argv)
raise SystemExit(cli.main())
"""
"""A signal that comes before is Python's."""


@pytest.mark.parametrize(
    ("argv", "seconds"),
    each_value([("-j1",), ("-j2",), ("-j2", "--fix"), ("verify", "--no-cache")], [0, 0.03, 0.1, 0.2, 0.4, 0.8, 1.6]),
    ids=str,
)
def test_ctrl_c_at_any_time(root: Path, argv: tuple[str, ...], seconds: float) -> None:
    files = {f"m{i:02}.py": NET for i in range(12)} | {"z.py": BUSY}
    write(root, files)
    process = subprocess.Popen(
        [sys.executable, "-c", SAYS_THAT_IT_BEGINS, *argv, "--isolated"],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b"error: interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # nothing of it is left
    assert {path.name: path.read_text() for path in root.iterdir()} == files


def test_the_version_that_is_assumed_without_torch_is_said(
    root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exportlint.config.settings.detect_torch_version", lambda _: None)
    write(root, {"a.py": NET, "b.py": NET, "sub/c.py": NET, "sub/exportlint.toml": ""})
    line = f"torch is not installed here: assuming {NEWEST[0]}.{NEWEST[1]}; set `torch-version`.\n"
    for output_format in ("full", "concise", "grouped"):
        assert run("--output-format", output_format).out.count(line) == 1
    for argv in (("--torch-version", "2.9"), ("-q",), ("--output-format", "json"), ("--output-format", "github")):
        result = run(*argv)
        assert "torch is not installed" not in result.out + result.err
    monkeypatch.undo()
