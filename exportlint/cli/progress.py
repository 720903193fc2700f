"""What is being run, shown on a terminal while it lasts, and nowhere else."""

from __future__ import annotations

from types import TracebackType

from exportlint.cli.output import write
from exportlint.cli.rich_bar import rich_bar
from exportlint.report.context import printable
from exportlint.verify.results import Run
from exportlint.verify.task import Progress

_MAX_SHOWN = 3


class ProgressBar:
    """A bar below what is written. Shows nothing where standard error is no terminal, or without `rich`."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._bar = None if quiet else rich_bar()
        self._running: dict[tuple[str, str, str], str] = {}
        self._task = None if self._bar is None else self._bar.add_task("starting Python", total=total)

    def __enter__(self) -> None:
        if self._bar is not None:
            self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, progress: Progress) -> None:
        """Show what a target has come to."""
        self._running[progress.target, progress.mode, progress.device] = printable(progress.stage)
        self._show()

    def done(self, run: Run, text: str) -> None:
        """Count a run as done, and write what there is to say of it above the bar."""
        self._running.pop((run.target, run.mode, run.device), None)
        if self._bar is None:
            write(text)
            return
        self._bar.stop()  # it takes itself away
        write(text)
        self._bar.start()
        self._bar.advance(self._task)
        self._show()

    def _show(self) -> None:
        if self._bar is not None:
            shown = [f"{printable(name)}: {stage}" for (name, _, _), stage in self._running.items()][:_MAX_SHOWN]
            self._bar.update(self._task, description=", ".join(shown))
