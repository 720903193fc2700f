"""`exportlint check --watch`, in a process that runs on while its files change."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from exportlint import source, workspace
from exportlint.config import Configuration
from exportlint.linter import LintResult, Session, Task, lint
from exportlint.source import SourceFile
from tests.cli.runner import CLEAN, NET, Run, write
from tests.cli.test_fix import DATA
from tests.patience import PATIENCE

pytest.importorskip("watchfiles")

HELPER = "def is_dark(t):\n    return t.mean() < 0.5\n"
USER = NET.replace("import torch\n", "from helper import is_dark\n").replace("x.sum() > 0", "is_dark(x)")
WAITING = "waiting for changes; press Ctrl-C to stop ---"


class Watching:
    """A process that watches, and what it says, line by line."""

    def __init__(self, root: Path, *argv: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "exportlint", "--watch", "--output-format", "concise", *argv],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            text=True,
            encoding="utf-8",
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def told(self) -> list[str]:
        """What it says up to waiting."""
        lines: list[str] = []
        while not lines or not lines[-1].endswith(WAITING):
            lines.append(self._next(lines))
        return lines

    def _next(self, before: list[str]) -> str:
        try:
            return self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"it does not wait, after {before}") from None

    def until(self, text: str) -> list[str]:
        """What it says, run by run, up to the end of the one that says `text`."""
        lines: list[str] = []
        while not any(text in line for line in lines):
            lines += self.told()
        return lines

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    def rest(self) -> list[str]:
        return [self._lines.get() for _ in range(self._lines.qsize())]


@pytest.fixture
def watching(root: Path) -> Iterator[Watching]:
    write(root, {"helper.py": CLEAN, "model.py": USER})
    process = Watching(root, "--isolated", ".")
    yield process
    process.process.kill()
    process.process.wait()


def test_a_change_is_linted_and_ctrl_c_ends(root: Path, watching: Watching) -> None:
    first = watching.told()
    assert not any("EXP101" in line for line in first)
    assert re.fullmatch(r"--- \d\d:\d\d:\d\d: 0 findings in 2 files, \d+\.\d\d s; " + WAITING, first[-1])
    write(root, {"helper.py": HELPER})
    second = watching.until("EXP101")
    assert re.fullmatch(r"--- \d\d:\d\d:\d\d: helper.py changed ---", second[0])
    assert any(line.startswith("model.py:7:12: error[EXP101 tensor-branch]") for line in second)
    assert "1 finding in 2 files" in second[-1]
    assert watching.interrupt() == 0
    time.sleep(0.1)
    assert not any("Traceback" in line for line in watching.rest())


@pytest.mark.thorough
def test_files_and_folders_that_come_and_go_and_editors_that_rename(root: Path, watching: Watching) -> None:
    watching.told()
    write(root, {"new/deep/net.py": NET})
    assert any("net.py:7:12" in line for line in watching.until("EXP101"))
    (root / "new/deep/.net.py.swp").write_text(NET.replace("sum", "mean"))
    (root / "new/deep/.net.py.swp").rename(root / "new/deep/net.py")
    assert any("net.py:7:12" in line for line in watching.until("EXP101"))
    (root / "new/deep/net.py").unlink()
    assert "0 findings in 2 files" in watching.until("0 findings")[-1]
    for path in (root / "new/deep", root / "new"):
        path.rmdir()
    watching.until("changed")
    write(root, {"new/deep/again.py": NET})
    assert any("again.py:7:12" in line for line in watching.until("EXP101"))


@pytest.mark.thorough
def test_a_configuration_that_breaks_is_told_and_waited_for(root: Path) -> None:
    write(root, {"net.py": NET, "exportlint.toml": 'mode = "strict"\n'})
    watching = Watching(root)
    try:
        watching.until("EXP101")
        write(root, {"exportlint.toml": 'mode = "stric'})
        assert any(line.startswith("error: ") and "TOML" in line for line in watching.until("error:"))
        write(root, {"exportlint.toml": 'ignore = ["tensor-branch"]\n'})
        assert "0 findings in 1 file" in watching.until("0 findings")[-1]
        assert watching.interrupt() == 0
    finally:
        watching.process.kill()
        watching.process.wait()


@pytest.mark.thorough
def test_a_helper_outside_of_what_is_named_is_watched_too(root: Path) -> None:
    write(root, {"lib/helper.py": CLEAN, "app/model.py": USER, "exportlint.toml": 'src = ["lib"]\n'})
    watching = Watching(root, "app")
    try:
        watching.told()
        write(root, {"lib/helper.py": HELPER})
        assert any("model.py:7:12" in line for line in watching.until("EXP101"))
    finally:
        watching.process.kill()
        watching.process.wait()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--fix"], "--watch cannot be used together with --fix"),
        (["--diff"], "--watch cannot be used together with --diff"),
        (["--fix-only"], "--watch cannot be used together with --fix-only"),
        (["--add-ignore"], "--watch cannot be used together with --add-ignore"),
        (["--update-baseline"], "--watch cannot be used together with --update-baseline"),
        (["--show-files"], "--watch cannot be used together with --show-files"),
        (["-"], "--watch is about files, so it cannot be used with standard input"),
    ],
)
def test_what_it_does_not_go_with(run: Run, argv: list[str], said: str) -> None:
    result = run("--watch", *argv)
    assert (result.code, result.out, result.err) == (2, "", f"error: {said}\n")


def test_without_watchfiles_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = run("--watch")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error: --watch needs the package watchfiles: install it with `pip install 'exportlint[watch]'`\n"
    )


def test_a_setting_that_fixes_does_not_hold(root: Path) -> None:
    write(root, {"net.py": DATA, "exportlint.toml": "fix = true\n"})
    watching = Watching(root)
    try:
        assert "1 finding in 1 file" in watching.told()[-1]
        assert (root / "net.py").read_text() == DATA
    finally:
        watching.process.kill()
        watching.process.wait()


@pytest.mark.thorough
def test_standard_output_holds_the_reports_alone(root: Path) -> None:
    write(root, {"net.py": NET})
    command = [sys.executable, "-m", "exportlint", "--watch", "--isolated", "--output-format", "json"]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert process.stderr.readline().rstrip().endswith(WAITING)
        process.send_signal(signal.SIGINT)
        assert [finding["code"] for finding in json.loads(process.stdout.read())] == ["EXP101"]
        assert (process.stderr.read(), process.wait(PATIENCE)) == ("\n", 0)
    finally:
        process.kill()
        process.wait()


@pytest.mark.thorough
def test_files_can_be_polled(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    write(root, {"lib/helper.py": CLEAN, "app/model.py": USER, "exportlint.toml": 'src = ["lib"]\n'})
    watching = Watching(root, "app")
    try:
        watching.told()
        time.sleep(1.1)  # some file systems have a clock of seconds
        write(root, {"lib/helper.py": HELPER})
        assert any("model.py:7:12" in line for line in watching.until("EXP101"))
    finally:
        watching.process.kill()
        watching.process.wait()


def test_a_system_that_watches_no_more_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached")
        yield

    monkeypatch.setattr("watchfiles.watch", refuse)
    result = run("--watch")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith("error: --watch: OS file watch limit reached; set WATCHFILES_FORCE_POLLING=1 to poll")


class TestSession:
    def lint(self, root: Path, session: Session | None) -> LintResult:
        settings = Configuration(root, isolated=True)
        tasks = [Task(path, settings.for_file(path)) for path in sorted(root.glob("*.py"))]
        return lint(tasks, session=session)

    def test_a_second_run_reads_only_what_changed(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(root, {"helper.py": HELPER, "model.py": USER, "other.py": NET})
        session = Session()
        assert len(self.lint(root, session).findings) == 2
        assert session.reads == {root / name for name in ("helper.py", "model.py", "other.py")}
        write(root, {"other.py": NET.replace("sum", "mean")})
        assert session.outdated() == {root / "other.py"}
        session.refresh(anew=False)
        read: list[str] = []

        def counted(path: Path, filename: str | None = None) -> SourceFile:
            read.append(path.name)
            return source.read(path, filename)

        monkeypatch.setattr(workspace, "read", counted)
        again = self.lint(root, session)
        assert read == ["other.py"]
        assert again == self.lint(root, None)
        assert len(again.findings) == 2

    def test_runs_see_what_comes_and_goes(self, root: Path) -> None:
        write(root, {"model.py": USER})
        session = Session()
        for files in ({"helper.py": HELPER}, {"helper.py": CLEAN}, {"model.py": NET}, {"model.py": USER}):
            known = {path.name for path in root.glob("*.py")}
            write(root, files)
            session.refresh(anew=not files.keys() <= known)
            assert self.lint(root, session) == self.lint(root, None)
