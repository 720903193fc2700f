"""The files of a project, with unsaved text in place of the disk, and the analysis of one of them."""

from __future__ import annotations

import ast
import gc
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from exportlint.analysis.exported_models import models, names_exported
from exportlint.analysis.incremental.kept_results import KeptResults
from exportlint.analysis.project import MAX_MODULES, Project
from exportlint.check import PartialError, Wants, check_file, options
from exportlint.findings import Finding, Position, Span
from exportlint.source import SourceError, SourceFile, SyntaxProblem, from_bytes, parse, read
from exportlint.source.parsing import OutOfMemoryProblem, problem_of
from exportlint.source.reparsing import reparse
from exportlint.source.stamps import settled, stamp
from exportlint.suppressions import Suppressions, find_suppressions
from exportlint.syntax.import_resolver import absolute
from exportlint.syntax.inputs import UNREADABLE, FileState, Inputs, Record, fingerprint
from exportlint.units import (
    EXHAUSTED,
    INTERNAL_ERROR,
    NO_FIXES,
    UNREADABLE_FILE,
    FixKey,
    Role,
    Task,
    Unit,
    about_file,
    fix_key,
    internal_error,
    plugin_failure,
    unreadable,
    wanted_fixes,
)
from exportlint.user_errors import ConfigError

__all__ = [
    "INTERNAL_ERROR",
    "NO_FIXES",
    "SYNTAX_ERROR",
    "UNREADABLE_FILE",
    "ClassSite",
    "FixKey",
    "Role",
    "Task",
    "Unit",
    "Workspace",
    "fix_key",
    "internal_error",
    "unreadable",
]

SYNTAX_ERROR = "EXP001"

_MAX_PROJECTS = 8
_MAX_KEPT = 64
"""The most files whose class results are kept."""
MAX_PARSED = 2_500_000
"""The most characters of files kept parsed for their next versions, with their imports: about 120 MB."""
_K = TypeVar("_K")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ClassSite:
    """The position of a class statement: its first line from `class` on, and the whole statement.

    `name` is what its file calls it, `is_model` whether it is a module with a `forward`.
    """

    header: Span
    whole: Span
    name: str = ""
    is_model: bool = False

    def holds(self, span: Span) -> bool:
        """Whether a span is inside the class."""
        return self.whole.start <= span.start and span.end <= self.whole.end


class Workspace:
    """The files of a project, some with other text than on disk: unsaved, or fixed.

    Files that were read are kept, so they must not change except by `hold`. `proceed` is called repeatedly while a file
    is analyzed, and may raise SupersededError to stop that. With `keeps_results`, only classes of a file that depend on
    a change run again.
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
        self._shared_sources: WeakValueDictionary[Path, SourceFile] = WeakValueDictionary()
        """Source files that are still referenced elsewhere, so that there is only one copy."""
        self._trees: dict[Path, tuple[SourceFile, ast.Module]] = {}
        self._trees_before: dict[Path, tuple[SourceFile, ast.Module]] = {}
        """The previous trees of edited files, from which unchanged statements are reused."""
        self._loaded: dict[Path, str] = {}
        """The stamps of the files from disk when they were read."""
        self._states: dict[str, FileState] = {}
        """The states of all files when they were read, for the cache."""
        self._torn: set[str] = set()
        """Files whose content had changed when they were read again, so it is unclear which content a result is for."""
        self.has_forgotten = False
        """Whether parsed files were forgotten since somebody last set this to False."""

    @contextmanager
    def keeping_results(self) -> Iterator[None]:
        """While versions of the same files are analyzed, run only the classes that depend on a change."""
        before = self._kept
        self._kept = {} if before is None else before
        try:
            yield
        finally:
            self._kept = before

    def hold(self, path: Path, data: bytes) -> None:
        """From now on, use `data` as the content of a file."""
        self._unsaved[path] = data
        self.forget(path)

    def see(self, unsaved: Mapping[Path, bytes]) -> frozenset[Path]:
        """From now on, use exactly these contents in place of the disk. Returns the files whose content changes."""
        before, self._unsaved = self._unsaved, dict(unsaved)
        changed = frozenset(p for p in before.keys() | unsaved.keys() if before.get(p) != unsaved.get(p))
        for path in changed:
            self.forget(path)
        return changed

    def forget(self, path: Path) -> None:
        """Read a file again when it is next needed."""
        self._sources.pop(path, None)
        self._shared_sources.pop(path, None)
        if path in self._trees:
            _keep(self._trees_before, path, self._trees.pop(path))
        self._loaded.pop(path, None)
        self._states.pop(path.as_posix(), None)
        self._torn.discard(path.as_posix())
        for project in self._projects.values():
            project.forget(path)

    def note(self, paths: Iterable[Path]) -> None:
        """Include in `outdated` the files that a result from elsewhere depends on."""
        for path in paths:
            if path not in self._unsaved:
                self._loaded.setdefault(path, stamp(str(path)))

    def outdated(self) -> frozenset[Path]:
        """The files that have changed on disk since they were read."""
        return frozenset(path for path, known in self._loaded.items() if stamp(str(path)) != known)

    def read(self, task: Task) -> SourceFile:
        """The file of a task. Raises SourceError if it cannot be read or is not Python text."""
        return self._load(task.path, task.filename)

    def lint(self, task: Task, fixes: Set[FixKey] | None = None, patience: float = math.inf) -> Unit:
        """The unit of a file. Any problem with the file becomes a finding.

        `fixes` names the findings whose fixes are computed, by default those shown in the file itself. A workspace that
        keeps results may return earlier ones after `patience` seconds of processor time.
        """
        try:
            return self._lint(task, fixes, patience)
        except EXHAUSTED:
            pass  # what earlier files left may be what there is too much of
        self.release()
        reads = frozenset({task.path})
        try:
            return self._lint(task, fixes)
        except MemoryError:
            self.release()
            return _too_big(task, reads)
        except SystemError as error:
            return Unit((internal_error(task, _describe(error)),), reads=reads)

    def knows(self, path: Path) -> bool:
        """Whether something is kept that makes the next look at a file faster than the first."""
        return any(key[0] == path for key in self._kept or ())

    def release(self) -> None:
        """Free everything that was read and computed; it is computed again when needed."""
        for known in (self._projects, self._sources, self._trees, self._trees_before, self._kept or {}):
            known.clear()
        self.has_forgotten = True
        gc.collect()

    def _lint(self, task: Task, fixes: Set[FixKey] | None, patience: float = math.inf) -> Unit:
        reads = frozenset({task.path})
        try:
            source = self.read(task)
        except SourceError as error:
            finding = unreadable(error, task.filename, task.settings.mode)
            return Unit((finding,), reads=reads, inputs=self._inputs(reads))
        project = self._project(task.settings.src)
        self._trim(project)
        try:
            suppressions = find_suppressions(source.text)
            if task.role is Role.IMPORTED:
                return Unit((), suppressions, reads, inputs=self._inputs(reads))
            wants = _wants(task, suppressions, fixes)
            results = self._results(task)
            if results is not None:
                results.patience = patience
            findings = check_file(source, project, task.settings, wants, results, task.leads_by)
            if source.problems:
                # Some code is missing: enough is known to report findings, too little to change code.
                findings = [
                    replace(f, fix=None, fix_pending=False) if f.filename == task.filename else f for f in findings
                ]
                findings += [_syntax_error(problem, task) for problem in source.problems]
                suppressions = suppressions.partial()
            exported = None
            if task.settings.exported:
                module = project.module(str(absolute(source.path)))
                exported = names_exported(module, project, options(task.settings))
            unresolved, unread = project.unresolved, project.unread
            reads |= project.reads
            is_partial = results is not None and results.is_partial
            inputs = None if project.timed_out or is_partial else self._inputs(reads, project)
            self._forget_parsed(task)
            return Unit(tuple(findings), suppressions, reads, unresolved, unread, exported, inputs, is_partial)
        except SyntaxProblem as error:
            return Unit((_syntax_error(error, task),), reads=reads, inputs=self._inputs(reads, project))
        except PartialError as error:
            crash = internal_error(task, f"{error.crash.what}: {_describe(error.crash.cause)}")
            reads |= project.reads
            return Unit((*error.findings, crash), suppressions, reads, project.unresolved, project.unread)
        except ConfigError as error:  # what another package adds cannot be used
            return Unit((plugin_failure(task, error),), reads=reads)
        except EXHAUSTED:
            raise
        except Exception as error:  # one bad file never stops the others
            return Unit((internal_error(task, _describe(error)),), reads=reads | project.reads)

    def _trim(self, project: Project) -> None:
        """Forget parsed files and their sources if there are too many."""
        if project.trim(holds_all_modules=self._kept is None):
            for known in (self._trees, self._sources):
                for path in [p for p in known if not any(each.has_parsed(p) for each in self._projects.values())]:
                    del known[path]

    def _inputs(self, reads: frozenset[Path], project: Project | None = None) -> Inputs | None:
        """All that the result depends on which was worked out last; None where that cannot be told."""
        record = Record() if project is None else project.recorder.record()
        paths = record.files.union(path.as_posix() for path in reads)
        if not self._torn.isdisjoint(paths) or any(path not in self._states for path in paths):
            return None
        files = {path: self._states[path] for path in paths}
        if project is None:
            return Inputs(files)
        resolver = project.resolver
        answers = {question: resolver.answer(question) for question in record.questions}
        return Inputs(files, answers, resolver.search)

    def problems(self, task: Task) -> tuple[Finding, ...]:
        """The findings about why a file cannot be read, or cannot be parsed as a whole."""
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

    def _forget_parsed(self, task: Task) -> None:
        """Where results are kept, forget those of files that were looked at long ago, once too much is parsed for them.

        A file that is looked at next needs all files that its classes were run with, so these are forgotten together.
        """
        if self._kept is None or sum(project.size for project in self._projects.values()) <= MAX_PARSED:
            return
        own = absolute(task.path).as_posix()
        needed = {own: 0}
        for key, results in reversed([*self._kept.items()]):
            more = {path: len(module.source.text) for path, module in results.modules.items() if path not in needed}
            if key[0] != task.path and sum(needed.values()) + sum(more.values()) > MAX_PARSED:
                del self._kept[key]
            else:
                needed |= more
        for project in self._projects.values():
            self.has_forgotten |= project.retain(needed.keys())
        for known in (self._trees, self._trees_before, self._sources):
            for path in [path for path in known if path.as_posix() not in needed]:
                del known[path]

    def _project(self, src: tuple[Path, ...]) -> Project:
        if src not in self._projects:
            while len(self._projects) >= _MAX_PROJECTS:
                del self._projects[next(iter(self._projects))]
            self._projects[src] = Project(src, self._load, self._tree, self._proceed)
        return self._projects[src]

    def _load(self, path: Path, filename: str | None = None) -> SourceFile:
        source = self._sources.get(path) or self._shared_sources.get(path)
        if source is None or source.filename != (filename or str(path)):
            data = self._unsaved.get(path)
            try:
                if data is None:
                    self._loaded.setdefault(path, stamp(str(path)))
                    source = read(path, filename)
                else:
                    source = from_bytes(data, path, filename)
            except SourceError as error:
                self._note(path, UNREADABLE + error.message)
                raise
            self._note(path, fingerprint(source.data))
            self._shared_sources[path] = source
            _keep(self._sources, path, source)
        return source

    def _note(self, path: Path, holds: str) -> None:
        """Record the content of a file."""
        key = path.as_posix()
        before = self._states.setdefault(key, FileState(holds, settled(self._loaded.get(path, ""))))
        if before.fingerprint != holds:
            self._torn.add(key)

    def _tree(self, source: SourceFile) -> ast.Module:
        """The tree of a file. Projects whose imports start elsewhere share it."""
        source_then, tree = self._trees.get(source.path, (None, None))
        if tree is None or source_then is not source:
            source_before, tree_before = self._trees_before.get(source.path, (None, None))
            try:
                edited = source_before and tree_before and reparse(source.text, source_before.text, tree_before)
            except SyntaxError as error:
                raise problem_of(source, error) from None
            try:
                tree = edited.tree if edited else parse(source)
            except OutOfMemoryProblem:
                raise MemoryError from None
            self._trees_before.pop(source.path, None)
            _keep(self._trees, source.path, (source, tree))
        return tree


def _wants(task: Task, suppressions: Suppressions, fixes: Set[FixKey] | None) -> Wants:
    """Which fixes are computed while a file is analyzed."""
    return lambda findings: wanted_fixes(task, suppressions, fixes, findings)


def _keep(known: dict[_K, _T], key: _K, what: _T, limit: int = MAX_MODULES) -> None:
    """Add an entry to a dictionary, and drop the oldest entry if there are too many."""
    known[key] = what
    while len(known) > limit:
        del known[next(iter(known))]


def _syntax_error(problem: SyntaxProblem, task: Task) -> Finding:
    span = Span(Position(problem.row, problem.column), Position(problem.row, problem.column + 1))
    return about_file(SYNTAX_ERROR, problem.message, span, task.filename, task.settings.mode)


def _too_big(task: Task, reads: frozenset[Path]) -> Unit:
    error = SourceError(task.filename, "does not fit into memory")
    return Unit((unreadable(error, task.filename, task.settings.mode),), reads=reads)


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
