"""What is being run, shown on a terminal while it lasts, and nowhere else."""

from __future__ import annotations

import sys
import threading
from types import TracebackType

from exportlint.cli.output import write
from exportlint.cli.rich_bar import rich_bar
from exportlint.report.context import printable
from exportlint.verify.results import Run
from exportlint.verify.task import Progress

_MAX_SHOWN = 3
_SECONDS_OF_TERMINALS, _SECONDS = 5.0, 60.0
"""Between two lines that say what is being run, where there is no bar: on a terminal, and in what is kept as a log."""


class ProgressBar:
    """A bar below what is written. Where there is none, a line every few seconds, or every minute where none looks."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._bar = None if quiet else rich_bar()
        self._total, self._done, self._shown = total, 0, ""
        self._ended = threading.Event()
        every = _SECONDS_OF_TERMINALS if sys.stderr.isatty() else _SECONDS
        speaks = self._bar is None and not quiet
        self._speaker = threading.Thread(target=self._speak, args=(every,), daemon=True) if speaks else None
        self._running: dict[tuple[str, str, str], str] = {}
        self._task = None if self._bar is None else self._bar.add_task("starting Python", total=total)

    def __enter__(self) -> None:
        if self._bar is not None:
            self._bar.start()
        if self._speaker is not None:
            self._speaker.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._ended.set()

    def _speak(self, every: float) -> None:
        """Say from time to time what is being run, and how much is done."""
        while not self._ended.wait(every):
            sys.stderr.write(f"{self._done}/{self._total}  {self._shown or 'starting'}\n")
            sys.stderr.flush()

    def tell(self, progress: Progress) -> None:
        """Show what a target has come to."""
        self._running[progress.target, progress.mode, progress.device] = printable(progress.stage)
        self._show()

    def done(self, run: Run, text: str) -> None:
        """Count a run as done, and write what there is to say of it above the bar."""
        # Of a call in a script, the run says another mode than was asked for, where the call does.
        mine = [key for key in self._running if (key[0], key[2]) == (run.target, run.device)]
        key = next((key for key in mine if key[1] == run.mode), mine[0] if mine else None)
        if key is not None:
            del self._running[key]
        self._done += 1
        if self._bar is None:
            write(text)
            self._show()
            return
        self._bar.stop()  # it takes itself away
        write(text)
        self._bar.start()
        self._bar.advance(self._task)
        self._show()

    def _show(self) -> None:
        shown = [f"{printable(name)}: {stage}" for (name, _, _), stage in self._running.items()][:_MAX_SHOWN]
        self._shown = ", ".join(shown)
        if self._bar is not None:
            self._bar.update(self._task, description=self._shown)
