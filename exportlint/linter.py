"""Lints many files: in one process or several, with the same result, whatever happens to one of the files."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from exportlint.analysis.project import Project
from exportlint.check import check_file
from exportlint.config import Settings
from exportlint.findings import Finding, Mode, Position, Severity, Span
from exportlint.registry import find_rule
from exportlint.source import SourceError, SourceFile, SyntaxProblem, from_bytes, read
from exportlint.suppressions import Suppressions, find_suppressions

SYNTAX_ERROR = "EXP001"
UNREADABLE_FILE = "EXP003"
INTERNAL_ERROR = "EXP004"

FEW_FILES = 8
"""Up to so many files, starting processes costs more than it saves."""

_STACK_BYTES = 256 * 2**20
_RECURSION_LIMIT = 10_000
_NO_SUPPRESSIONS = Suppressions()
_START = Span(Position(1, 1), Position(1, 1))
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Task:
    """A file to lint, by its absolute path. `data` is what it holds if that does not come from the disk.

    Its findings call it `filename`, by default its path.
    """

    path: Path
    settings: Settings
    name: str = ""
    data: bytes | None = None

    @property
    def filename(self) -> str:
        """What its findings call it."""
        return self.name or str(self.path)

    def read(self) -> SourceFile:
        """The file. Raises SourceError if it cannot be read or is not Python text."""
        if self.data is None:
            return read(self.path, self.filename)
        return from_bytes(self.data, self.path, self.filename)


@dataclass(frozen=True, slots=True)
class Unit:
    """What looking at one file gave: findings, perhaps in other files as well, and the file's own pragmas."""

    findings: tuple[Finding, ...]
    suppressions: Suppressions = _NO_SUPPRESSIONS


@dataclass(frozen=True, slots=True)
class LintResult:
    """Findings in the order of reports."""

    findings: tuple[Finding, ...]
    files_checked: int

    @property
    def failed(self) -> bool:
        """Whether exportlint itself failed on some file."""
        return any(f.code == INTERNAL_ERROR for f in self.findings)


def lint(tasks: Sequence[Task], jobs: int = 1) -> LintResult:
    """Lint files. The result depends neither on their order nor on `jobs`, the number of processes."""
    if jobs > 1 and len(tasks) > FEW_FILES:
        from exportlint.workers import lint_in_processes

        units = lint_in_processes(tasks, jobs)
    else:
        units = lint_here(tasks)
    return LintResult(tuple(_merge(tasks, units)), len(tasks))


def lint_here(tasks: Sequence[Task]) -> list[Unit]:
    """The units of `tasks`, in this process."""
    return on_big_stack(lambda: [_lint_file(task) for task in tasks])


def internal_error(task: Task, what: str) -> Unit:
    """The unit of a file on which exportlint failed."""
    message = f"internal error: {what}; please report this, with the file if you can"
    return Unit((_finding(INTERNAL_ERROR, message, _START, task.filename, task.settings.mode),))


def unreadable(error: SourceError, filename: str, mode: Mode) -> Finding:
    """The finding about a path that cannot be linted."""
    place = Position(error.row or 1, 1)
    return _finding(UNREADABLE_FILE, error.message, Span(place, place), filename, mode)


def _lint_file(task: Task) -> Unit:
    try:
        source = task.read()
    except SourceError as error:
        return Unit((unreadable(error, task.filename, task.settings.mode),))
    except MemoryError:
        too_big = SourceError(task.filename, "does not fit into memory")
        return Unit((unreadable(too_big, task.filename, task.settings.mode),))
    try:
        suppressions = find_suppressions(source.text)
        findings = check_file(source, _project(task.settings.src), task.settings)
        return Unit(tuple(findings), suppressions)
    except SyntaxProblem as error:
        start = Position(error.row, error.column)
        span = Span(start, Position(error.row, error.column + 1))
        message = f"syntax error: {error.message}"
        return Unit((_finding(SYNTAX_ERROR, message, span, task.filename, task.settings.mode),))
    except Exception as error:  # one bad file never stops the others
        return internal_error(task, _describe(error))


@functools.lru_cache(maxsize=8)
def _project(src: tuple[Path, ...]) -> Project:
    return Project(src)


def _merge(tasks: Sequence[Task], units: Sequence[Unit]) -> list[Finding]:
    """The findings of all units that are wanted where they are, each once, in order."""
    by_file: dict[str, dict[tuple[Span, str], Finding]] = {task.filename: {} for task in tasks}
    for finding in _findings(units):
        known = by_file.get(finding.filename)
        if known is None:
            continue
        key = finding.span, finding.code
        if key not in known or finding.sort_key < known[key].sort_key:
            known[key] = finding
    merged: list[Finding] = []
    for task, unit in zip(tasks, units, strict=True):
        enabled = task.settings.rules_for(task.path)
        wanted = [f for f in by_file[task.filename].values() if f.code in enabled]
        kept = unit.suppressions.apply(wanted, enabled, task.filename, task.settings.mode)
        merged += map(task.settings.fixes.apply, kept)
    return sorted(merged, key=lambda f: f.sort_key)


def _findings(units: Iterable[Unit]) -> Iterable[Finding]:
    for unit in units:
        yield from unit.findings


def _finding(code: str, message: str, span: Span, filename: str, mode: Mode) -> Finding:
    rule = find_rule(code)
    assert rule is not None
    return Finding(code, rule.name, Severity.ERROR, message, filename, span, mode=mode)


def _describe(error: Exception) -> str:
    """One line about an exception: its type, its message, and where in exportlint it comes from."""
    frame = error.__traceback__
    place = ""
    while frame is not None:
        file = Path(frame.tb_frame.f_code.co_filename)
        if Path(__file__).parent in file.parents:
            place = f" ({file.relative_to(Path(__file__).parent.parent).as_posix()}:{frame.tb_lineno})"
        frame = frame.tb_next
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{f': {text[:200]}' if text else ''}{place}"


def on_big_stack(function: Callable[[], _T]) -> _T:
    """What `function` returns or raises, run with room for deep recursion, also that of native code."""
    outcome: dict[str, _T] = {}
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome["value"] = function()
        except BaseException as error:  # raised again below
            failure.append(error)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        thread = _start(run)
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return outcome["value"]


def _start(run: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=run, daemon=True)
    before = threading.stack_size(_STACK_BYTES)
    try:
        thread.start()
    except RuntimeError:
        # The system grants no such stack, as under `ulimit -v`: the default one has to do.
        threading.stack_size(before)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    return thread
