"""Analyzes the latest versions of the open documents, in a separate thread."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from exportlint.analysis.project import SupersededError
from exportlint.baseline import marked
from exportlint.big_stack import start_on_big_stack
from exportlint.findings import Finding
from exportlint.fingerprints import fingerprinted
from exportlint.linter import merge, worked_out
from exportlint.server.analyses import Outcome
from exportlint.server.baselines import baseline_of
from exportlint.server.last_parsed import LastParsed, Shown, moves
from exportlint.server.memory import LEAST_DOCUMENTS, MAX_RESIDENT, collect, resident
from exportlint.server.moves import Moves, moved
from exportlint.server.notebooks import Opened
from exportlint.server.stored_results import StoredResults
from exportlint.source import SourceError, SourceFile
from exportlint.suppressions import find_suppressions
from exportlint.workspace import NO_FIXES, SYNTAX_ERROR, ClassSite, Task, Unit, Workspace, internal_error

log = logging.getLogger(__name__)

PATIENCE = 0.1
"""Seconds of processor time after which findings are shown even if some affected classes have not run yet."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to analyze: all open documents, each with its task, the one in focus first."""

    tasks: Mapping[Opened, Task]
    touched: frozenset[Path] = frozenset()
    """Files that have changed on disk since they were read."""
    anew: bool = False
    """Whether files were created or deleted, so that imports may lead elsewhere."""
    number: int = 0
    """A serial number: later orders have greater ones."""
    folders: tuple[Path, ...] = ()
    """The workspace folders of the client."""


@dataclass(frozen=True)
class _Looked:
    """The result of analyzing a document; `shown` is its current text, or the last text that could be parsed."""

    task: Task
    shown: Shown
    unit: Unit
    classes: tuple[ClassSite, ...]
    is_stored: bool = False
    """Whether the result is from the cache, so that nothing is in memory yet that speeds up the next version."""

    @cached_property
    def moves(self) -> Moves | None:
        """How positions have moved since the analyzed version, None if they have not."""
        return moves(self.shown, self.task) if self.shown.is_of_before else None


class _InterruptedError(SupersededError):
    """The work is interrupted because a client waits for the fixes of an analyzed document."""


Deliver = Callable[[Mapping[Opened, Outcome]], None]


class Analyzer:
    """Takes orders from any thread. A new order supersedes the one in progress.

    Results are passed to `deliver` in the analyzer's thread: those of the document in focus before the others, unless
    analyzing others gives findings in it too. Results of earlier runs come from `stored`.
    """

    def __init__(self, deliver: Deliver, stored: StoredResults | None = None, *, prepares: bool = True) -> None:
        """`prepares`: a document with a stored result is analyzed too, so that its next version takes less time."""
        self._deliver = deliver
        self._stored = stored
        self._prepares = prepares
        self._begun: set[str] = set()
        """The URIs of documents analyzed since files were last created or deleted."""
        self._wake = threading.Condition()
        self._order: Order | None = None
        self._lacking: frozenset[Opened] = frozenset()
        """The documents whose fixes a client waits for."""
        self._may_be_interrupted = False
        self._frozen: frozenset[str] = frozenset()
        """The documents that were open when `gc.freeze` was last called."""
        self._stopped = False
        self._number = 0
        self._tasks: Mapping[Opened, Task] = {}
        self._workspace = Workspace({}, self._proceed, keeps_results=True)
        self._since_release = 0
        """How many documents were begun since the workspace last gave back all memory."""
        self._known: dict[Opened, _Looked] = {}
        self._parsed = LastParsed(self._problems)
        self._shown: Mapping[Opened, Shown] = {}
        self._held: Mapping[Path, bytes] = {}
        self._told_of: dict[str, frozenset[str]] = {}
        """By the URI of a document, the other files in which analyzing it gave findings."""
        self._thread = start_on_big_stack(self._run)

    def order(self, order: Order) -> None:
        """Analyze these documents next, in place of the current order."""
        with self._wake:
            waiting = self._order
            if waiting is not None:
                order = replace(order, touched=order.touched | waiting.touched, anew=order.anew or waiting.anew)
            self._order = order
            self._wake.notify()

    def work_out_fixes(self, document: Opened) -> None:
        """Compute the fixes for the findings in a document as soon as it is analyzed, and deliver the result again."""
        with self._wake:
            self._lacking |= {document}
            self._wake.notify()

    def stop(self) -> None:
        """Stop the thread."""
        with self._wake:
            self._stopped = True
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stopped or self._order is not None or self._lacking)
                if self._stopped:
                    return
                order, self._order = self._order, None
            try:
                if order is not None:
                    self._work(order)
                    self._spare_collector(order)
                self._work_out()
                with self._wake:
                    self._lacking = self._lacking.intersection(self._known)  # others are not open any more
                self._prepare_next()
                if self._stored is not None:
                    self._stored.save()
            except SupersededError:
                continue  # the next order holds all that is left to look at, and who needs a fix asks again
            except Exception:
                log.exception("looking at %s failed", [str(task.path) for task in self._tasks.values()])
                self._fail()

    def _spare_collector(self, order: Order) -> None:
        """Exclude the results for open documents from garbage collections, which stop every thread."""
        opened = frozenset(document.uri for document in order.tasks)
        if self._workspace.has_forgotten or self._frozen - opened:
            self._collect()
        elif opened != self._frozen:
            collect(frozen=False)
        self._frozen = opened

    def _collect(self) -> None:
        """Unfreeze all objects and collect garbage."""
        collect(frozen=True)
        self._workspace.has_forgotten = False

    def _fail(self) -> None:
        """Report an internal error in all documents, and start again without any results."""
        self._workspace, self._known = Workspace({}, self._proceed, keeps_results=True), {}
        self._begun.clear()
        found = {}
        for document, task in self._tasks.items():
            finding = internal_error(task, "the language server failed, see its log")
            found[document] = Outcome(document, task, (finding,), Unit((finding,)), self._number)
        self._deliver(found)

    def _problems(self, task: Task) -> tuple[Finding, ...]:
        return self._workspace.problems(task)

    def _proceed(self) -> None:
        if self._stopped or self._order is not None:
            raise SupersededError
        if self._may_be_interrupted and self._lacking and not self._lacking.isdisjoint(self._known):
            raise _InterruptedError

    def _work(self, order: Order) -> None:
        self._number, self._tasks = order.number, order.tasks
        self._see(order)
        before = self._known
        opened = {document.uri for document in order.tasks}
        self._told_of = {uri: names for uri, names in self._told_of.items() if uri in opened}
        versions = {document.uri: looked for document, looked in before.items()}
        self._known = {
            document: replace(looked, task=task, shown=self._shown[document])
            for document, task in order.tasks.items()
            if (looked := versions.get(document.uri)) and looked.shown.task == self._shown[document].task
        }
        stale = [document for document in order.tasks if document not in self._known]
        first = next(iter(order.tasks), None)
        if stale and first in self._known and not self._is_told_of(order.tasks[first]):
            self._deliver(self._outcomes([first]))  # a new version that is looked at as the last one was
        for document in stale:
            task = order.tasks[document]
            shown = self._shown[document]
            stored = self._stored_of(document, shown)
            unit = stored or self._look(shown.task, PATIENCE if document is first else math.inf)
            if unit.is_partial:
                self._tell_first(document, self._looked(task, shown, unit))
                unit = self._look(shown.task)
            self._known[document] = replace(self._looked(task, shown, unit), is_stored=stored is not None)
            self._told_of[document.uri] = frozenset(finding.filename for finding in unit.findings) - {task.filename}
            if stored is None and document.uri not in self._begun and self._stored is not None:
                self._stored.keep(shown.task, unit)
            self._begun.add(document.uri)
            if document is not stale[-1] and self._workspace.has_forgotten:
                self._collect()
            self._proceed()
            if document is stale[0] is not stale[-1] and not self._is_told_of(task):
                self._deliver(self._outcomes([document]))
        self._deliver(self._outcomes(order.tasks))

    def _looked(self, task: Task, shown: Shown, unit: Unit) -> _Looked:
        # The client shows no classes of what is not open.
        classes = () if task.data is None else self._workspace.classes(shown.task)
        return _Looked(task, shown, unit, classes)

    def _tell_first(self, document: Opened, looked: _Looked) -> None:
        """Deliver the new findings of the edited classes together with the earlier findings of the others."""
        if self._is_told_of(looked.task):
            return
        self._known[document] = looked
        self._deliver(self._outcomes([document]))
        del self._known[document]

    def _stored_of(self, document: Opened, shown: Shown) -> Unit | None:
        """The cached result for a document that this server has not analyzed yet, None if there is none."""
        if self._stored is None or document.uri in self._begun or shown.is_of_before:
            return None
        unit = self._stored.find(shown.task)
        if unit is not None:
            self._workspace.note(unit.reads)
        return unit

    def _prepare_next(self) -> None:
        """Analyze the document in focus although its result is stored, so that its next version takes less time."""
        first = next(iter(self._tasks), None) if self._prepares else None
        looked = None if first is None else self._known.get(first)
        if first is not None and looked is not None and looked.is_stored:
            self._look(looked.shown.task)
            self._known[first] = replace(looked, is_stored=False)

    def _look(self, task: Task, patience: float = math.inf) -> Unit:
        if not self._workspace.knows(task.path):
            self._since_release += 1
            if self._since_release >= LEAST_DOCUMENTS and resident() > MAX_RESIDENT:
                self._since_release = 0
                self._workspace.release()  # what many documents leave in pieces is given back only as a whole
                self._collect()
        while True:
            self._may_be_interrupted = True
            try:
                return self._workspace.lint(task, NO_FIXES, patience)
            except _InterruptedError:
                self._may_be_interrupted = False
                self._work_out()
            finally:
                self._may_be_interrupted = False

    def _work_out(self) -> None:
        """Compute the requested fixes of the analyzed documents."""
        for document in [*self._lacking]:
            if document in self._known:
                self._work_out_of(document)
                with self._wake:
                    self._lacking -= {document}

    def _work_out_of(self, document: Opened) -> None:
        known = list(self._known.items())
        helpers = self._helpers(looked for _, looked in known).values()
        units = worked_out(
            [*(looked.task for _, looked in known), *(task for task, _ in helpers)],
            [*(looked.unit for _, looked in known), *(unit for _, unit in helpers)],
            lambda asked: [self._workspace.lint(look.task, look.fixes) for look in asked],
            self._known[document].task.filename,
        )
        for (one, looked), unit in zip(known, units, strict=False):
            self._known[one] = replace(looked, unit=unit)
        self._deliver(self._outcomes([document]))

    def _see(self, order: Order) -> None:
        """Give the workspace the current text of the documents, and drop what depends on earlier text."""
        if order.anew:
            self._workspace = Workspace({}, self._proceed, keeps_results=True)
            self._begun.clear()
        before = self._held
        self._workspace.see(_data(self._parsed.known(order.tasks).values()))
        self._shown = self._parsed.of(order.tasks)
        held = self._held = _data(self._shown.values())
        self._workspace.see(held)
        if self._stored is not None:
            self._stored.begin(held, order.folders)
        edited = {path for path in before.keys() | held.keys() if before.get(path) != held.get(path)}
        changed = edited | self._workspace.outdated() | order.touched
        for path in changed - edited:
            self._workspace.forget(path)
        self._known = {
            document: looked
            for document, looked in self._known.items()
            if not order.anew and not looked.unit.reads & changed
        }

    def _outcomes(self, documents: Iterable[Opened]) -> dict[Opened, Outcome]:
        known = {looked.task.filename: looked for looked in self._known.values()}
        tasks = {name: looked.task for name, looked in known.items()}
        units = [looked.unit for looked in known.values()]
        helpers = self._helpers(known.values())
        found: dict[str, list[Finding]] = {name: [] for name in (*tasks, *helpers)}
        reached: dict[str, list[Finding]] = {}
        all_tasks = [*tasks.values(), *(task for task, _ in helpers.values())]
        shown_by = {task.filename: task.settings for task in all_tasks}
        moves = {name: made for name, looked in known.items() if (made := looked.moves) is not None}
        looked_at = {name: looked.shown.task for name, looked in known.items()}
        looked_at |= {name: task for name, (task, _) in helpers.items()}
        for was in self._accepted(merge(all_tasks, [*units, *(unit for _, unit in helpers.values())]), looked_at):
            finding = moved(was, moves)
            if finding is None or not shown_by[finding.filename].shows(finding):
                continue
            found[finding.filename].append(finding)
            for name in {caller.filename for caller in finding.callers} - {finding.filename}:
                reached.setdefault(name, []).append(finding)
        for name, looked in known.items():
            if looked.shown.is_of_before:
                enabled = looked.task.settings.rules_for(looked.task.path)
                found[name] = [finding for finding in found[name] if finding.code != SYNTAX_ERROR]
                found[name] += (problem for problem in looked.shown.problems if problem.code in enabled)
                found[name].sort(key=lambda finding: finding.sort_key)
        return {document: self._outcome(document, tasks, found, reached, moves) for document in documents}

    def _accepted(self, findings: tuple[Finding, ...], tasks: Mapping[str, Task]) -> tuple[Finding, ...]:
        """The findings, with those in a baseline marked. `tasks` are the files as they were analyzed."""
        held = {name: baseline_of(task.settings) for name, task in tasks.items()}
        if not any(held.values()):
            return findings
        named = fingerprinted(findings, lambda name: self._source(tasks[name]))
        return marked(named, lambda finding: held[finding.filename])

    def _is_told_of(self, task: Task) -> bool:
        """Whether analyzing other documents gives findings in this one, or did so last time."""
        return any(task.filename in names for names in self._told_of.values())

    def _helpers(self, known: Iterable[_Looked]) -> dict[str, tuple[Task, Unit]]:
        """The files that are not open but have findings, with the suppressions in them."""
        opened = {looked.task.filename for looked in self._known.values()}
        found: dict[str, tuple[Task, Unit]] = {}
        for looked in known:
            for name in {finding.filename for finding in looked.unit.findings} - opened - found.keys():
                task = Task(Path(name), looked.task.settings)
                source = self._source(task)
                if source is not None:
                    found[name] = task, Unit((), _suppressions(source.text))
        return found

    def _outcome(
        self,
        document: Opened,
        tasks: Mapping[str, Task],
        found: Mapping[str, Sequence[Finding]],
        reached: Mapping[str, Sequence[Finding]],
        moves: dict[str, Moves],
    ) -> Outcome:
        looked = self._known[document]
        task = looked.task
        findings = tuple(found[task.filename])
        elsewhere = tuple(reached.get(task.filename, ()))
        named = {task.filename, *(step.filename for finding in findings for step in finding.trail)}
        named |= {finding.filename for finding in elsewhere}
        read = {name: self._source(tasks.get(name, Task(Path(name), task.settings))) for name in named}
        sources = {name: source for name, source in read.items() if source}
        unit, classes = looked.unit, looked.classes
        if moves:
            unit = replace(unit, findings=tuple(f for was in unit.findings if (f := moved(was, moves)) is not None))
        if (own := moves.get(task.filename)) is not None:
            classes = tuple(site for was in classes if (site := own.site(was)) is not None)
        is_of_before = looked.shown.is_of_before
        return Outcome(document, task, findings, unit, self._number, sources, classes, elsewhere, is_of_before)

    def _source(self, task: Task) -> SourceFile | None:
        try:
            is_seen = task.data is None or self._held.get(task.path) is task.data
            return self._workspace.read(task) if is_seen else task.read()
        except SourceError:  # gone meanwhile: nothing is said of it
            return None


_suppressions = lru_cache(maxsize=100)(find_suppressions)


def _data(shown: Iterable[Shown]) -> dict[Path, bytes]:
    return {one.task.path: one.task.data for one in shown if one.task.data is not None}


def changed_files(before: Iterable[Task], after: Iterable[Task]) -> set[Path]:
    """The files whose content differs between two lists of tasks."""
    old, new = ({task.path: task.data for task in tasks} for tasks in (before, after))
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
