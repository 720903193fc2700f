"""All files of the folders, for a client that shows what is found in those that are not open too."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from pathlib import Path

from exportlint.server import uris
from exportlint.server.analyses import Analysis, Outcome, analyses
from exportlint.server.analyzer import Analyzer, Order
from exportlint.server.documents import Document
from exportlint.server.folders import Folder, folder_of
from exportlint.server.notebooks import Opened
from exportlint.server.stored_results import StoredResults
from exportlint.server.threads import hand_over, in_thread
from exportlint.source import DiscoveryOptions, discover, is_notebook
from exportlint.workspace import Task


class Everything:
    """Looks at all files of folders, and at those only that changed when it is asked again."""

    def __init__(self, stored: StoredResults | None = None) -> None:
        self._stored = stored
        self._analyzer: Analyzer | None = None
        self._awaited: asyncio.Future[Mapping[Opened, Outcome]] | None = None
        self._wanted: Set[Opened] = frozenset()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: frozenset[Path] = frozenset()

    async def closed(self, folders: Iterable[Folder], opened: Mapping[Opened, Task]) -> list[Analysis]:
        """What is found in the files that are not open, those that are seen as they are now; not in notebooks."""
        known = {folder.root: replace(folder) for folder in folders}
        open_now = {task.path for task in opened.values()}
        tasks = await in_thread(lambda _: _tasks(known, open_now))
        files = frozenset(task.path for task in tasks.values())
        anew, self._before = files | open_now != self._before, files | open_now
        found = await self._look({**opened, **tasks}, anew=anew, folders=tuple(known))
        return [_analysis(outcome) for document, outcome in found.items() if document in tasks]

    def stop(self) -> None:
        """Look at nothing any more."""
        if self._analyzer is not None:
            self._analyzer.stop()

    async def _look(
        self, tasks: Mapping[Opened, Task], *, anew: bool, folders: tuple[Path, ...]
    ) -> Mapping[Opened, Outcome]:
        self._loop = asyncio.get_running_loop()
        self._analyzer = self._analyzer or Analyzer(self._deliver, self._stored, prepares=False)
        self._awaited, self._wanted = self._loop.create_future(), tasks.keys()
        self._analyzer.order(Order(tasks, anew=anew, folders=folders))
        return await self._awaited

    def _deliver(self, found: Mapping[Opened, Outcome]) -> None:
        assert self._loop is not None
        hand_over(self._loop, self._settle, found)

    def _settle(self, found: Mapping[Opened, Outcome]) -> None:
        # Some of it is told first, and the rest may follow before anyone has taken that.
        if self._awaited is not None and not self._awaited.done() and found.keys() == self._wanted:
            self._awaited.set_result(found)


def _tasks(folders: Mapping[Path, Folder], opened: set[Path]) -> dict[Opened, Task]:
    """The files that are not open, each as a document of which nothing but the URI is known yet."""

    def options(directory: Path) -> DiscoveryOptions:
        return _folder(folders, directory).settings_of(directory / "_")[0].discovery

    found: dict[Opened, Task] = {}
    for path in discover(folders, options).files:
        folder = _folder(folders, path.parent)
        if path not in opened and not is_notebook(path.name) and folder.preferences.enable:
            found[Document(uris.from_path(path), 0, "", "python")] = Task(path, folder.settings_of(path)[0])
    return found


def _folder(folders: Mapping[Path, Folder], directory: Path) -> Folder:
    folder = folder_of(directory / "_", folders)
    return next(iter(folders.values())) if folder is None else folder  # behind a link that leads out of them


def _analysis(outcome: Outcome) -> Analysis:
    source, document = outcome.sources.get(outcome.task.filename), outcome.opened
    assert isinstance(document, Document)
    document = replace(document, text="" if source is None else source.text)
    return analyses(replace(outcome, opened=document))[document]
