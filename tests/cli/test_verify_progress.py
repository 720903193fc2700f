"""What `exportlint verify` says while it runs, where there is no bar."""

from __future__ import annotations

import threading

import pytest

from exportlint.cli import progress
from exportlint.cli.progress import ProgressBar
from exportlint.verify.results import Run
from exportlint.verify.task import Progress


class Lines:
    """A standard error that tells when a line has come."""

    def __init__(self) -> None:
        self.text = ""
        self.came = threading.Event()

    def write(self, text: str) -> int:
        self.text += text
        self.came.set()
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


def test_without_rich_lines_say_what_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines()
    monkeypatch.setattr(progress, "rich_bar", lambda: None)
    monkeypatch.setattr(progress, "_SECONDS_OF_TERMINALS", 0.01)
    monkeypatch.setattr("sys.stderr", lines)
    bar = ProgressBar(2, quiet=False)
    bar.tell(Progress("shop:Gate", "non-strict", "cpu", "export"))
    with bar:
        assert lines.came.wait(30)
        assert lines.text.startswith("0/2  shop:Gate: export\n")
        bar.done(Run("shop:Gate", "strict", "cpu", "exports"), "")
        before = len(lines.text)
        while len(lines.text) < before + 40:
            lines.came.clear()
            assert lines.came.wait(30)
    assert "1/2  starting\n" in lines.text


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines()
    monkeypatch.setattr(progress, "_SECONDS_OF_TERMINALS", 0.001)
    monkeypatch.setattr("sys.stderr", lines)
    with ProgressBar(2, quiet=True):
        assert not lines.came.wait(0.05)
