"""How many files are linted, shown on a terminal where that takes a while."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Any

from exportlint.cli.rich_bar import rich_bar

_PATIENCE = 2.0
"""Seconds that a run may take without showing anything."""


class LintProgress:
    """A bar while files are linted. `total` is their number, None for work of unknown length."""

    def __init__(self, what: str, total: int | None, *, quiet: bool) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._bar: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._is_over = quiet
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> LintProgress:
        if not self._is_over:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()

    def done(self, count: int) -> None:
        """Count files as linted. May be called from any thread."""
        with self._lock:
            self._done += count
            if self._bar is not None:
                self._bar.update(self._task, completed=self._done)

    def _show(self) -> None:
        bar = rich_bar()
        with self._lock, contextlib.suppress(Exception):  # whatever a terminal has against it, the report comes
            if bar is None or self._is_over:
                return
            self._task = bar.add_task(self._what, total=self._total, completed=self._done)
            self._bar = bar
            bar.start()
