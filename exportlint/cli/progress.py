"""What is being run, shown on a terminal while it lasts, and nowhere else."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from exportlint.cli.output import write

if TYPE_CHECKING:
    from types import TracebackType

_MAX_SHOWN = 3


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """A bar below what is written. Shows nothing where standard error is no terminal, or without `rich`."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._bar = None if quiet else _rich_bar()
        self._running: dict[tuple[str, ...], str] = {}
        self._task: Any = None if self._bar is None else self._bar.add_task("", total=total)

    def __enter__(self) -> ProgressBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def stage(self, job: tuple[str, ...], stage: str) -> None:
        """Show that a job, whose first word is the name of its target, has come to a stage."""
        self._running[job] = stage
        self._show()

    def done(self, job: tuple[str, ...], text: str) -> None:
        """Count a job as done, and write what there is to say of it above the bar."""
        self._running.pop(job, None)
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
            shown = [f"{job[0]}: {stage}" for job, stage in list(self._running.items())[:_MAX_SHOWN]]
            self._bar.update(self._task, description=", ".join(shown))


def _rich_bar() -> Any:
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:
        return None
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    console = Console(file=sys.stderr)
    return Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
