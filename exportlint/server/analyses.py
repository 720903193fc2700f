"""What was found, as the client sees it: for each document, and for each cell of a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from exportlint.findings import Caller, Edit, Finding
from exportlint.report import in_cells
from exportlint.server.documents import Document
from exportlint.server.notebooks import NotebookDocument, Opened
from exportlint.server.verification.seen import NOTHING, Seen
from exportlint.source import Cells, Notebook, SourceFile, from_cells
from exportlint.workspace import ClassSite, Task, Unit


@dataclass(frozen=True)
class Outcome:
    """What looking at one version of a document or notebook gave.

    It holds as of the order with the number `order`. `sources` are it and all files that its findings speak of, by
    filename, as they were read.
    `classes` are those of the document. `elsewhere` are the findings in other files that they reach. `is_of_before`:
    it cannot be parsed, and this is what was found in it before, where that is now.
    """

    opened: Opened
    task: Task
    findings: tuple[Finding, ...]
    unit: Unit
    order: int = 0
    sources: Mapping[str, SourceFile] = field(default_factory=dict)
    classes: tuple[ClassSite, ...] = ()
    elsewhere: tuple[Finding, ...] = ()
    is_of_before: bool = False


@dataclass(frozen=True)
class Reached:
    """A finding that lies outside of a class, and by what the class reaches it."""

    finding: Finding
    caller: Caller


@dataclass(frozen=True)
class Analysis:
    """What was found in one version of a document, which may be a cell: then all rows are those of the cell."""

    document: Document
    outcome: Outcome
    findings: tuple[Finding, ...]
    classes: tuple[ClassSite, ...]
    reached: tuple[Reached, ...] = ()
    """What its classes reach outside of themselves, in this file and in others."""
    seen: Seen = NOTHING
    """The outcome of verifying it."""

    @property
    def found(self) -> tuple[tuple[Finding, ...], tuple[Reached, ...]]:
        """All that is found of it, without fixes, which are worked out later than it is shown."""
        reached = (replace(one, finding=_without_fix(one.finding)) for one in self.reached)
        return tuple(map(_without_fix, self.findings)), tuple(reached)

    @property
    def lacks_fixes(self) -> bool:
        """Whether there are findings whose fixes nobody has worked out yet."""
        return any(finding.fix_pending for finding in self.findings)

    @property
    def source(self) -> SourceFile | None:
        """The document as it was read; a cell as a notebook with no other."""
        task = self.outcome.task
        if isinstance(self.outcome.opened, NotebookDocument):
            return from_cells([self.document.text], task.path, task.filename)
        return self.outcome.sources.get(task.filename)

    @property
    def unsuppressed(self) -> list[Finding]:
        """The findings that there would be without comments that suppress some."""
        outcome, task = self.outcome, self.outcome.task
        enabled = task.settings.rules_for(task.path)
        own = (f for f in outcome.unit.findings if f.filename == task.filename and f.code in enabled)
        located = (in_cells(finding, outcome.sources.get) for finding in own)
        return [f for f in located if self.cell(task.filename, f.cell) in (None, self.document)]

    def cell(self, filename: str, number: int | None) -> Document | None:
        """A cell of the same notebook, by its number from 1."""
        if number is None or filename != self.outcome.task.filename:
            return None
        return self.outcome.opened.cells[number - 1] if isinstance(self.outcome.opened, NotebookDocument) else None

    def by_document(self, edits: Iterable[Edit]) -> dict[Document, list[Edit]]:
        """Edits of the fix of a finding by the documents that they are of: in a notebook, that may be another cell."""
        found: dict[Document, list[Edit]] = {}
        for edit in edits:
            cell = self.cell(self.outcome.task.filename, edit.cell)
            found.setdefault(cell or self.document, []).append(edit)
        return found


def analyses(outcome: Outcome) -> dict[Document, Analysis]:
    """What was found, for each document that the client shows."""
    opened = outcome.opened
    if not isinstance(opened, NotebookDocument):
        reached = tuple(_reached(outcome, (*outcome.findings, *outcome.elsewhere)))
        return {opened: Analysis(opened, outcome, outcome.findings, outcome.classes, reached)}
    source = outcome.sources.get(outcome.task.filename)
    if not isinstance(source, Notebook):  # it could not be read, which is found in no cell
        return {cell: Analysis(cell, outcome, (), ()) for cell in opened.cells}
    located = [in_cells(finding, outcome.sources.get) for finding in outcome.findings]
    elsewhere = [in_cells(finding, outcome.sources.get) for finding in outcome.elsewhere]
    outside = list(_reached(outcome, (*located, *elsewhere)))
    found: dict[Document, Analysis] = {}
    for index, cell in enumerate(opened.cells):
        found[cell] = Analysis(
            cell,
            outcome,
            tuple(finding for finding in located if (finding.cell or 1) == index + 1),
            tuple(_classes(outcome.classes, source.cells, index)),
            tuple(one for one in outside if (one.caller.cell or 1) == index + 1),
        )
    return found


def _without_fix(finding: Finding) -> Finding:
    return finding if finding.fix is None else replace(finding, fix=None)


def _reached(outcome: Outcome, findings: Iterable[Finding]) -> Iterable[Reached]:
    for finding in findings:
        for caller in finding.callers:
            if caller.filename == outcome.task.filename:
                yield Reached(finding, caller)


def _classes(classes: Sequence[ClassSite], cells: Cells, index: int) -> Iterable[ClassSite]:
    for site in classes:
        header, whole = cells.span(site.header), cells.span(site.whole)
        if header is not None and whole is not None and header[0] == index:
            yield replace(site, header=header[1], whole=whole[1])
