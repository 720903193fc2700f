"""Which lines ran, and which files were imported."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .frames import is_of_project


@contextlib.contextmanager
def rows_that_run(wanted: Callable[[str], bool]) -> Iterator[dict[str, set[int]]]:
    """The rows of each wanted file that run meanwhile, as they come."""
    rows: dict[str, set[int]] = {}
    known: dict[str, set[int] | None] = {}

    def rows_of(file: str) -> set[int] | None:
        if file not in known:
            path = os.path.abspath(file)
            known[file] = rows.setdefault(path, set()) if not file.startswith("<") and wanted(file) else None
        return known[file]

    with _monitored(rows_of) if hasattr(sys, "monitoring") else _traced(rows_of):
        yield rows
    for file in [file for file, found in rows.items() if not found]:
        del rows[file]


@contextlib.contextmanager
def _monitored(rows_of: Callable[[str], set[int] | None]) -> Iterator[None]:
    """Each line is told of once only, from Python 3.12 on."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    tool = next(number for number in range(6) if monitoring.get_tool(number) is None)

    def note(code: Any, row: int) -> Any:
        rows = rows_of(code.co_filename)
        if rows is not None:
            rows.add(row)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "exportlint")
    monitoring.register_callback(tool, monitoring.events.LINE, note)
    monitoring.set_events(tool, monitoring.events.LINE)
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        monitoring.free_tool_id(tool)
        monitoring.restart_events()


@contextlib.contextmanager
def _traced(rows_of: Callable[[str], set[int] | None]) -> Iterator[None]:
    def enter(frame: Any, _event: str, _: Any) -> Any:
        rows = rows_of(frame.f_code.co_filename)
        if rows is None:
            return None

        def line(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                rows.add(frame.f_lineno)
            return line

        return line

    with tracing(enter):
        yield


@contextlib.contextmanager
def tracing(function: Any) -> Iterator[None]:
    """Have Python report what it runs to a function; to none, if it is None."""
    before = sys.gettrace()
    sys.settrace(function)
    try:
        yield
    finally:
        sys.settrace(before)


def imported_files(root: str, script: str | None) -> dict[str, str]:
    """The digests of the files of the project that were imported, as far as they are still there.

    A `script` that was run is one of them, although it is `__main__` only while it runs.
    """
    found: dict[str, str] = {}
    files = [getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())]
    for file in [*files, script]:
        if isinstance(file, str) and is_of_project(file, root):
            with contextlib.suppress(OSError):
                found[os.path.abspath(file)] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return found
