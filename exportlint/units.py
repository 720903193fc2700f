"""What is looked at, one file each, and what looking at it gives: what the linter, the cache and the server hand on."""

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
"""What Python raises when there is no memory: SystemError where native code did not say so."""

NO_SUPPRESSIONS = Suppressions()
_START = Span(Position(1, 1), Position(1, 1))


FixKey = tuple[str, Span, str]
"""Names a finding to work out a fix for: its file, its place and its code."""

NO_FIXES = frozenset[FixKey]()


def fix_key(finding: Finding) -> FixKey:
    """What names a finding to those who work out fixes."""
    return finding.filename, finding.span, finding.code


class Role(Enum):
    """Why a file is looked at.

    LINTED: the user asked for it. IMPORTER: its modules may run code of a file that is linted. IMPORTED: such modules
    run its code as well. Of files that are not linted, only those findings are told that a linted file leads to.
    """

    LINTED = "linted"
    IMPORTER = "importer"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class Task:
    """A file to look at, by its absolute path. `data` is what it holds if that does not come from the disk.

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
        """What its findings call it."""
        return self.name or str(self.path)

    def read(self) -> SourceFile:
        """The file. Raises SourceError if it cannot be read or is not Python text."""
        if self.data is None:
            return read(self.path, self.filename)
        return from_bytes(self.data, self.path, self.filename)


@dataclass(frozen=True, slots=True)
class Unit:
    """What looking at one file gave: findings, perhaps in other files as well, and the file's own pragmas.

    It depends on what the files `reads` hold, which are the file itself and those that it imports. `unresolved` are
    imports in these that lead into the project, and to no file; `unread` are those of these files that cannot be read
    or parsed. `exported`: whether the setting of this name names a class of the file; None without the setting, or
    without a module that it could name. `inputs` is all that it depends on besides the settings; None if it may
    come out differently with the same, because time ran out or exportlint failed. `is_partial`: classes that an edit
    concerns were not run again yet, so that some of this was found before it.
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
    """The finding about a file that cannot be analyzed because of what another package adds."""
    return about_file(INTERNAL_ERROR, str(error), _START, task.filename, task.settings.mode)


def unreadable(error: SourceError, filename: str, mode: Mode) -> Finding:
    """The finding about a path that cannot be linted."""
    place = Position(error.row or 1, 1)
    return about_file(UNREADABLE_FILE, error.message, Span(place, place), filename, mode)


def about_file(code: str, message: str, span: Span, filename: str, mode: Mode) -> Finding:
    """A finding that no rule makes of a fact: something is wrong with the file itself."""
    rule = find_rule(code)
    assert rule is not None
    return Finding(code, rule.name, Severity.ERROR, message, filename, span, mode=mode)


def wanted_fixes(
    task: Task, suppressions: Suppressions, fixes: Set[FixKey] | None, findings: Iterable[Finding]
) -> list[Finding]:
    """The findings whose fixes are worked out while a file is looked at; `fixes` is as in `Workspace.lint`."""
    if fixes is not None:
        return [finding for finding in findings if fix_key(finding) in fixes]
    if task.role is not Role.LINTED:
        return []
    enabled = task.settings.rules_for(task.path)
    own = (f for f in findings if f.filename == task.filename and f.code in enabled)
    return suppressions.remaining(filter(task.settings.offers_fix, own))
