"""Looks at documents in a thread of its own, always at their latest versions."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.analysis.project import SupersededError
from exportlint.findings import Finding
from exportlint.linter import merge
from exportlint.server.analyses import Outcome
from exportlint.server.notebooks import Opened
from exportlint.source import SourceError, SourceFile
from exportlint.workspace import ClassSite, Task, Unit, Workspace, internal_error, start_on_big_stack

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """What to look at: all open documents, each with its task, the one that matters most first."""

    tasks: Mapping[Opened, Task]
    touched: frozenset[Path] = frozenset()
    """Files that hold something else on the disk than when they were read."""
    anew: bool = False
    """Whether files came or went, so that names may lead elsewhere."""
    number: int = 0
    """Later orders have greater ones."""


@dataclass(frozen=True, slots=True)
class _Looked:
    """What looking at a document gave."""

    task: Task
    unit: Unit
    classes: tuple[ClassSite, ...]


Deliver = Callable[[Mapping[Opened, Outcome]], None]


class Analyzer:
    """Takes orders from any thread; an order that comes while another is worked on supersedes it.

    What comes of an order is given to `deliver`, in the analyzer's thread; what concerns the document that matters
    most before the rest, unless looking at others gives findings in it as well.
    """

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._wake = threading.Condition()
        self._order: Order | None = None
        self._stopped = False
        self._number = 0
        self._workspace = Workspace({}, self._proceed)
        self._known: dict[Opened, _Looked] = {}
        self._stamps: dict[Path, tuple[int, int] | None] = {}
        self._thread = start_on_big_stack(self._run)

    def order(self, order: Order) -> None:
        """Look at these documents next, whatever was ordered before."""
        with self._wake:
            waiting = self._order
            if waiting is not None:
                order = replace(order, touched=order.touched | waiting.touched, anew=order.anew or waiting.anew)
            self._order = order
            self._wake.notify()

    def stop(self) -> None:
        """Look at nothing any more."""
        with self._wake:
            self._stopped = True
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stopped or self._order is not None)
                if self._stopped:
                    return
                order, self._order = self._order, None
            assert order is not None
            try:
                self._work(order)
            except SupersededError:
                continue  # the next order holds all that is left to look at
            except Exception:
                log.exception("looking at %s failed", [str(task.path) for task in order.tasks.values()])
                self._fail(order)

    def _fail(self, order: Order) -> None:
        """Say of all documents that something is wrong with exportlint, and start again with nothing known."""
        self._workspace, self._known = Workspace({}, self._proceed), {}
        found = {}
        for document, task in order.tasks.items():
            finding = internal_error(task, "the language server failed, see its log")
            found[document] = Outcome(document, task, (finding,), Unit((finding,)), order.number)
        self._deliver(found)

    def _proceed(self) -> None:
        if self._stopped or self._order is not None:
            raise SupersededError

    def _work(self, order: Order) -> None:
        self._number = order.number
        self._see(order)
        before = self._known
        self._known = {d: before[d] for d, task in order.tasks.items() if d in before and before[d].task == task}
        stale = [document for document in order.tasks if document not in self._known]
        for document in stale:
            task = order.tasks[document]
            unit = self._workspace.lint(task)
            self._known[document] = _Looked(task, unit, self._workspace.classes(task))
            self._stamps |= {path: _stamp(path) for path in unit.reads - self._stamps.keys()}
            self._proceed()
            if document is stale[0] is not stale[-1] and not _elsewhere(before, task):
                self._deliver(self._outcomes([document]))
        self._deliver(self._outcomes(order.tasks))

    def _see(self, order: Order) -> None:
        """Have the workspace see what the documents hold now, and forget what depends on what they held."""
        if order.anew:
            self._workspace = Workspace({}, self._proceed)
        held = {task.path: task.data for task in order.tasks.values() if task.data is not None}
        changed = self._workspace.see(held) | self._changed_on_disk(held) | order.touched
        for path in changed:
            self._workspace.forget(path)
        self._known = {
            document: looked
            for document, looked in self._known.items()
            if not order.anew and not looked.unit.reads & changed
        }

    def _changed_on_disk(self, held: Iterable[Path]) -> set[Path]:
        """Files that were read, are not open, and are not what they were."""
        read = {path for looked in self._known.values() for path in looked.unit.reads}.difference(held)
        stamps = {path: _stamp(path) for path in read}
        changed = {path for path, stamp in stamps.items() if self._stamps.get(path, stamp) != stamp}
        self._stamps = stamps
        return changed

    def _outcomes(self, documents: Iterable[Opened]) -> dict[Opened, Outcome]:
        known = list(self._known.values())
        tasks = {looked.task.filename: looked.task for looked in known}
        found: dict[str, list[Finding]] = {name: [] for name in tasks}
        for finding in merge([looked.task for looked in known], [looked.unit for looked in known]):
            if tasks[finding.filename].settings.shows(finding):
                found[finding.filename].append(finding)
        return {document: self._outcome(document, tasks, found) for document in documents}

    def _outcome(self, document: Opened, tasks: Mapping[str, Task], found: Mapping[str, Sequence[Finding]]) -> Outcome:
        looked = self._known[document]
        task = looked.task
        findings = tuple(found[task.filename])
        named = {task.filename, *(step.filename for finding in findings for step in finding.trail)}
        read = {name: self._source(tasks.get(name, Task(Path(name), task.settings))) for name in named}
        sources = {name: source for name, source in read.items() if source}
        return Outcome(document, task, findings, looked.unit, self._number, sources, looked.classes)

    def _source(self, task: Task) -> SourceFile | None:
        try:
            return self._workspace.read(task)
        except SourceError:  # gone meanwhile: nothing is said of it
            return None


def _elsewhere(known: Mapping[Opened, _Looked], task: Task) -> bool:
    """Whether looking at other documents gave findings in this one."""
    return any(
        finding.filename == task.filename
        for other in known.values()
        if other.task.filename != task.filename
        for finding in other.unit.findings
    )


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def changed_files(before: Iterable[Task], after: Iterable[Task]) -> set[Path]:
    """The files of which something else is to be seen."""
    old, new = ({task.path: task.data for task in tasks} for tasks in (before, after))
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
