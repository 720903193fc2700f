"""One piece of work and its result, for one file each: `Task` and `Unit`, which linter, cache and server exchange."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from exportlint.config import ConfigError, Settings
from exportlint.findings import Finding, Mode, Position, Severity, Span
from exportlint.registry import find_rule
from exportlint.source import SourceError, SourceFile, from_bytes, read
from exportlint.suppressions import Suppressions
from exportlint.syntax.inputs import Inputs
from exportlint.syntax.unresolved_imports import UnreadFile, UnresolvedImport

UNREADABLE_FILE = "EXP003"
INTERNAL_ERROR = "EXP004"
ANALYSIS_LIMIT = "EXP006"

EXHAUSTED = (MemoryError, SystemError)
"""What Python raises if memory runs out: SystemError if native code did not set an exception."""

NO_SUPPRESSIONS = Suppressions()
_START = Span(Position(1, 1), Position(1, 1))


FixKey = tuple[str, Span, str]
"""Identifies a finding whose fix is wanted: its file, span and code."""

NO_FIXES = frozenset[FixKey]()


def fix_key(finding: Finding) -> FixKey:
    """The key of a finding in a request for fixes."""
    return finding.filename, finding.span, finding.code


class Role(Enum):
    """Why a file is analyzed.

    LINTED: the user asked for it. IMPORTER: its modules may run code of a file that is linted. IMPORTED: such modules
    run its code as well. Of files that are not linted, only those findings are told that a linted file leads to.
    """

    LINTED = "linted"
    IMPORTER = "importer"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class Task:
    """A file to analyze, by its absolute path. `data` is its content if that does not come from disk.

    Its findings call it `filename`, by default its path. `leads_by` are the names by which an importer leads to files
    that are linted; None if that may be any.
    """

    path: Path
    settings: Settings
    name: str = ""
    data: bytes | None = None
    role: Role = Role.LINTED
    leads_by: frozenset[str] | None = None

    @property
    def filename(self) -> str:
        """The file name in its findings."""
        return self.name or str(self.path)

    def read(self) -> SourceFile:
        """The file. Raises SourceError if it cannot be read or is not Python text."""
        if self.data is None:
            return read(self.path, self.filename)
        return from_bytes(self.data, self.path, self.filename)


@dataclass(frozen=True, slots=True)
class Unit:
    """The result of analyzing one file: findings, perhaps in other files too, and the file's suppressions.

    It depends on the contents of `reads`: the file itself and the files that it imports. `unresolved` are the imports
    in these that should lead to a file of the project but do not; `unread` are those of these files that cannot be read
    or parsed. `exported`: whether the setting `exported` names a class of the file; None without the setting, or
    without a model that it could name. `inputs` is everything the result depends on besides the settings; None if the
    same inputs may give another result, because time ran out or exportlint failed. `is_partial`: some classes affected
    by an edit have not run again yet, so a part of the result is from before the edit.
    """

    findings: tuple[Finding, ...]
    suppressions: Suppressions = NO_SUPPRESSIONS
    reads: frozenset[Path] = frozenset()
    unresolved: frozenset[UnresolvedImport] = frozenset()
    unread: frozenset[UnreadFile] = frozenset()
    exported: bool | None = None
    inputs: Inputs | None = field(default=None, compare=False, repr=False)
    is_partial: bool = False


def internal_error(task: Task, what: str) -> Finding:
    """The finding about a file on which exportlint failed."""
    message = f"internal error: {what}; please report this, with the file if you can"
    return about_file(INTERNAL_ERROR, message, _START, task.filename, task.settings.mode)


def plugin_failure(task: Task, error: ConfigError) -> Finding:
    """The finding about a file that cannot be analyzed because another package adds something invalid."""
    return about_file(INTERNAL_ERROR, str(error), _START, task.filename, task.settings.mode)


def unreadable(error: SourceError, filename: str, mode: Mode) -> Finding:
    """The finding about a path that cannot be linted."""
    place = Position(error.row or 1, 1)
    return about_file(UNREADABLE_FILE, error.message, Span(place, place), filename, mode)


def about_file(code: str, message: str, span: Span, filename: str, mode: Mode) -> Finding:
    """A finding about the file itself, which does not come from a rule and a fact."""
    rule = find_rule(code)
    assert rule is not None
    return Finding(code, rule.name, Severity.ERROR, message, filename, span, mode=mode)


def wanted_fixes(
    task: Task, suppressions: Suppressions, fixes: Set[FixKey] | None, findings: Iterable[Finding]
) -> list[Finding]:
    """The findings whose fixes are computed while a file is analyzed; `fixes` is as in `Workspace.lint`."""
    if fixes is not None:
        return [finding for finding in findings if fix_key(finding) in fixes]
    if task.role is not Role.LINTED:
        return []
    enabled = task.settings.rules_for(task.path)
    own = (f for f in findings if f.filename == task.filename and f.code in enabled)
    return suppressions.remaining(filter(task.settings.offers_fix, own))
