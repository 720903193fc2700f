"""What documents held when they could last be parsed, to go by while they cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from exportlint.findings import Finding
from exportlint.server.moves import Moves
from exportlint.server.notebooks import NotebookDocument, Opened
from exportlint.source import Notebook, SourceError, SourceFile, as_json
from exportlint.workspace import Task

Problems = Callable[[Task], tuple[Finding, ...]]
"""What keeps a file from being read or parsed, as findings."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The text of a document to analyze: the current one or, while that cannot be parsed, an earlier one.

    `task` is the file with that text; `problems` are the syntax errors of the current text.
    """

    task: Task
    problems: tuple[Finding, ...] = ()
    is_of_before: bool = False


class LastParsed:
    """Keeps, for each open document, the text that could last be parsed; for a notebook that of each cell."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._parsed: dict[str, bytes] = {}
        self._cells: dict[str, dict[str, str]] = {}
        self._shown: dict[Opened, tuple[Task, Shown]] = {}

    def known(self, tasks: Mapping[Opened, Task]) -> dict[Opened, Shown]:
        """How to look at documents as far as that is known, the others as they are."""
        return {document: self._known(document, task) or Shown(task) for document, task in tasks.items()}

    def _known(self, document: Opened, task: Task) -> Shown | None:
        known = self._shown.get(document)
        return known[1] if known is not None and known[0] == task else None

    def of(self, tasks: Mapping[Opened, Task]) -> dict[Opened, Shown]:
        """How to look at documents, of which no others are open."""
        shown = {
            document: self._known(document, task) or self._look(document, task) for document, task in tasks.items()
        }
        self._shown = {document: (task, shown[document]) for document, task in tasks.items()}
        uris = {document.uri for document in tasks}
        self._parsed = {uri: data for uri, data in self._parsed.items() if uri in uris}
        self._cells = {uri: cells for uri, cells in self._cells.items() if uri in uris}
        return shown

    def _look(self, document: Opened, task: Task) -> Shown:
        if task.data is None:
            return Shown(task)
        problems = self._problems(task)
        if isinstance(document, NotebookDocument):
            return self._notebook(document, task, problems)
        if not problems:
            self._parsed[document.uri] = task.data
            return Shown(task)
        data = self._parsed.get(document.uri)
        return Shown(task, problems) if data is None else Shown(replace(task, data=data), problems, is_of_before=True)

    def _notebook(self, document: NotebookDocument, task: Task, problems: tuple[Finding, ...]) -> Shown:
        source = _source(task)
        if not isinstance(source, Notebook):
            return Shown(task, problems)
        broken = {source.cells.index(problem.row) for problem in source.problems}
        parsed = self._cells.setdefault(document.uri, {})
        texts = []
        for index, cell in enumerate(document.cells):
            if index not in broken:
                parsed[cell.uri] = cell.text
            texts.append(parsed.get(cell.uri, cell.text))
        if texts == [cell.text for cell in document.cells]:
            return Shown(task, problems)
        return Shown(replace(task, data=as_json(texts)), problems, is_of_before=True)


def moves(shown: Shown, task: Task) -> Moves | None:
    """From the text that is looked at to the one that there is; None if that cannot be read."""
    before, after = _source(shown.task), _source(task)
    return None if before is None or after is None else Moves(_text(before), _text(after))


def _text(source: SourceFile) -> str:
    return source.cells.text if isinstance(source, Notebook) else source.text


def _source(task: Task) -> SourceFile | None:
    try:
        return task.read()
    except SourceError:
        return None
