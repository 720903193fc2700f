"""The files of a project as they are to be seen, saved or not, and what looking at one of them gives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TypeVar

from exportlint.analysis.exported_models import models, names_exported
from exportlint.analysis.kept_results import KeptResults
from exportlint.analysis.project import MAX_MODULES, Project
from exportlint.check import PartialError, Wants, check_file, options
from exportlint.config import Settings
from exportlint.findings import Finding, Mode, Position, Severity, Span
from exportlint.registry import find_rule
from exportlint.source import SourceError, SourceFile, SyntaxProblem, from_bytes, parse, read
from exportlint.source.reparsing import reparse
from exportlint.suppressions import Suppressions, find_suppressions
from exportlint.syntax.import_resolver import absolute
from exportlint.syntax.unresolved_imports import UnreadFile, UnresolvedImport

SYNTAX_ERROR = "EXP001"
UNREADABLE_FILE = "EXP003"
INTERNAL_ERROR = "EXP004"

_MAX_PROJECTS = 8
_NO_SUPPRESSIONS = Suppressions()
_MAX_KEPT = 64
"""Files of which the results of classes are kept."""
_K = TypeVar("_K")
_T = TypeVar("_T")
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

    Its findings call it `filename`, by default its path.
    """

    path: Path
    settings: Settings
    name: str = ""
    data: bytes | None = None
    role: Role = Role.LINTED

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
    without a module that it could name.
    """

    findings: tuple[Finding, ...]
    suppressions: Suppressions = _NO_SUPPRESSIONS
    reads: frozenset[Path] = frozenset()
    unresolved: frozenset[UnresolvedImport] = frozenset()
    unread: frozenset[UnreadFile] = frozenset()
    exported: bool | None = None


@dataclass(frozen=True, slots=True)
class ClassSite:
    """Where a class statement stands: its first line from `class` on, and all of it.

    `name` is what its file calls it, `is_model` whether it is a module with a `forward`.
    """

    header: Span
    whole: Span
    name: str = ""
    is_model: bool = False

    def holds(self, span: Span) -> bool:
        """Whether something stands inside of the class."""
        return self.whole.start <= span.start and span.end <= self.whole.end


class Workspace:
    """The files of a project, some of which are to be seen as they are not on the disk: unsaved, or fixed.

    What was read is kept, so one workspace is for files that do not change but by `hold`. `proceed` is called again and
    again while a file is looked at, and may raise SupersededError to end it. One that `keeps_results` runs only those
    classes of a file again that depend on what changed.
    """

    def __init__(
        self,
        unsaved: Mapping[Path, bytes],
        proceed: Callable[[], None] = lambda: None,
        *,
        keeps_results: bool = False,
    ) -> None:
        self._kept: dict[tuple[object, ...], KeptResults] | None = {} if keeps_results else None
        self._unsaved = dict(unsaved)
        self._proceed = proceed
        self._projects: dict[tuple[Path, ...], Project] = {}
        self._sources: dict[Path, SourceFile] = {}
        self._trees: dict[Path, tuple[SourceFile, ast.Module]] = {}
        self._trees_before: dict[Path, tuple[SourceFile, ast.Module]] = {}
        """The last trees of files that have been edited since, of which unchanged statements are taken over."""
        self._loaded: dict[Path, tuple[int, int] | None] = {}
        """What told the files that come from the disk from later ones when they were read."""

    def hold(self, path: Path, data: bytes) -> None:
        """From now on, a file is seen as holding `data`."""
        self._unsaved[path] = data
        self.forget(path)

    def see(self, unsaved: Mapping[Path, bytes]) -> frozenset[Path]:
        """From now on, exactly these files are seen as they are not on the disk. Returns those that changed by it."""
        before, self._unsaved = self._unsaved, dict(unsaved)
        changed = frozenset(p for p in before.keys() | unsaved.keys() if before.get(p) != unsaved.get(p))
        for path in changed:
            self.forget(path)
        return changed

    def forget(self, path: Path) -> None:
        """Have a file read again when it is next needed."""
        self._sources.pop(path, None)
        if path in self._trees:
            _keep(self._trees_before, path, self._trees.pop(path))
        self._loaded.pop(path, None)
        for project in self._projects.values():
            project.forget(path)

    def outdated(self) -> frozenset[Path]:
        """The files that are no longer on the disk as they were read."""
        return frozenset(path for path, stamp in self._loaded.items() if _stamp(path) != stamp)

    def read(self, task: Task) -> SourceFile:
        """The file of a task. Raises SourceError if it cannot be read or is not Python text."""
        return self._load(task.path, task.filename)

    def lint(self, task: Task, fixes: Set[FixKey] | None = None) -> Unit:
        """What looking at a file gives. Whatever is wrong with it becomes a finding.

        `fixes` names the findings whose fixes are worked out; by default it is those that are shown in the file itself.
        """
        reads = frozenset({task.path})
        try:
            source = self.read(task)
        except SourceError as error:
            return Unit((unreadable(error, task.filename, task.settings.mode),), reads=reads)
        except MemoryError:
            too_big = SourceError(task.filename, "does not fit into memory")
            return Unit((unreadable(too_big, task.filename, task.settings.mode),), reads=reads)
        project = self._project(task.settings.src)
        try:
            suppressions = find_suppressions(source.text)
            if task.role is Role.IMPORTED:
                return Unit((), suppressions, reads)
            wants = _wants(task, suppressions, fixes)
            findings = check_file(source, project, task.settings, wants, self._results(task))
            if source.problems:
                # Not all of the code is known: enough to find something, too little to change something.
                findings = [
                    replace(f, fix=None, fix_pending=False) if f.filename == task.filename else f for f in findings
                ]
                findings += [_syntax_error(problem, task) for problem in source.problems]
                suppressions = suppressions.partial()
            exported = None
            if task.settings.exported:
                module = project.module(str(absolute(source.path)))
                exported = names_exported(module, project, options(task.settings))
            reads |= project.reads
            return Unit(tuple(findings), suppressions, reads, project.unresolved, project.unread, exported)
        except SyntaxProblem as error:
            return Unit((_syntax_error(error, task),), reads=reads)
        except PartialError as error:
            crash = internal_error(task, f"{error.crash.what}: {_describe(error.crash.cause)}")
            reads |= project.reads
            return Unit((*error.findings, crash), suppressions, reads, project.unresolved, project.unread)
        except Exception as error:  # one bad file never stops the others
            return Unit((internal_error(task, _describe(error)),), reads=reads | project.reads)

    def problems(self, task: Task) -> tuple[Finding, ...]:
        """What keeps a file from being read, or from being parsed as a whole."""
        try:
            source = self.read(task)
            if not source.problems:
                self._project(task.settings.src).add(source)
            return tuple(_syntax_error(problem, task) for problem in source.problems)
        except SyntaxProblem as error:
            return (_syntax_error(error, task),)
        except SourceError as error:
            return (unreadable(error, task.filename, task.settings.mode),)

    def classes(self, task: Task) -> tuple[ClassSite, ...]:
        """The classes of a file, an outer one before those in it; none if it cannot be parsed."""
        try:
            project, source = self._project(task.settings.src), self.read(task)
            module = project.add(source)
        except (SourceError, SyntaxProblem):
            return ()
        lines, exportable = source.lines, models(module, project, options(task.settings), self._results(task))
        wholes = ((cls, (whole := lines.span_of(cls.node)), whole.start) for cls in module.classes)
        return tuple(
            ClassSite(Span(start, lines.position(lines.line_end(start.row))), whole, cls.qualname, cls in exportable)
            for cls, whole, start in wholes
        )

    def _results(self, task: Task) -> KeptResults | None:
        if self._kept is None:
            return None
        settings = task.settings
        key = task.path, task.filename, options(settings), settings.torch_version, settings.src
        found = self._kept.pop(key, None) or KeptResults.nothing()
        _keep(self._kept, key, found, _MAX_KEPT)
        return found

    def _project(self, src: tuple[Path, ...]) -> Project:
        if src not in self._projects:
            while len(self._projects) >= _MAX_PROJECTS:
                del self._projects[next(iter(self._projects))]
            self._projects[src] = Project(src, self._load, self._tree, self._proceed)
        return self._projects[src]

    def _load(self, path: Path, filename: str | None = None) -> SourceFile:
        source = self._sources.get(path)
        if source is None or source.filename != (filename or str(path)):
            data = self._unsaved.get(path)
            if data is None:
                self._loaded.setdefault(path, _stamp(path))
                source = read(path, filename)
            else:
                source = from_bytes(data, path, filename)
            _keep(self._sources, path, source)
        return source

    def _tree(self, source: SourceFile) -> ast.Module:
        """The tree of a file. Projects whose imports start elsewhere share it."""
        source_then, tree = self._trees.get(source.path, (None, None))
        if tree is None or source_then is not source:
            source_before, tree_before = self._trees_before.get(source.path, (None, None))
            edited = source_before and tree_before and reparse(source.text, source_before.text, tree_before)
            tree = edited.tree if edited else parse(source)
            self._trees_before.pop(source.path, None)
            _keep(self._trees, source.path, (source, tree))
        return tree


def _wants(task: Task, suppressions: Suppressions, fixes: Set[FixKey] | None) -> Wants:
    """The fixes that are worked out while a file is looked at."""
    if fixes is not None:
        return lambda findings: [finding for finding in findings if fix_key(finding) in fixes]
    if task.role is not Role.LINTED:
        return lambda _: ()
    enabled = task.settings.rules_for(task.path)

    def shown(findings: Iterable[Finding]) -> list[Finding]:
        own = (f for f in findings if f.filename == task.filename and f.code in enabled)
        return suppressions.remaining(filter(task.settings.offers_fix, own))

    return shown


def _keep(known: dict[_K, _T], key: _K, what: _T, limit: int = MAX_MODULES) -> None:
    """Know something, and forget what was known first, once there is too much."""
    known[key] = what
    while len(known) > limit:
        del known[next(iter(known))]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _syntax_error(problem: SyntaxProblem, task: Task) -> Finding:
    span = Span(Position(problem.row, problem.column), Position(problem.row, problem.column + 1))
    return _finding(SYNTAX_ERROR, problem.message, span, task)


def internal_error(task: Task, what: str) -> Finding:
    """The finding about a file on which exportlint failed."""
    message = f"internal error: {what}; please report this, with the file if you can"
    return _finding(INTERNAL_ERROR, message, _START, task)


def unreadable(error: SourceError, filename: str, mode: Mode) -> Finding:
    """The finding about a path that cannot be linted."""
    place = Position(error.row or 1, 1)
    return _about(UNREADABLE_FILE, error.message, Span(place, place), filename, mode)


def _finding(code: str, message: str, span: Span, task: Task) -> Finding:
    return _about(code, message, span, task.filename, task.settings.mode)


def _about(code: str, message: str, span: Span, filename: str, mode: Mode) -> Finding:
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
