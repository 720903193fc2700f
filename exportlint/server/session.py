"""What the server knows of its client: what it can do, its folders and settings, and what it has open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from exportlint.config import ConfigError, Settings
from exportlint.server import uris
from exportlint.server.baselines import problem_of
from exportlint.server.client import Client
from exportlint.server.documents import Document
from exportlint.server.folders import Folder, folder_of
from exportlint.server.notebooks import NotebookDocument, Opened, parts
from exportlint.server.preferences import Preferences
from exportlint.server.problems import notice_of
from exportlint.source import is_excluded, is_notebook
from exportlint.workspace import Task


@dataclass
class Session:
    """Changed in the event loop only. What it hands out is immutable.

    `section` are the user's settings of documents in no folder, and of folders for which the client names none.
    """

    client: Client = field(default_factory=Client)
    section: Mapping[str, object] = field(default_factory=dict)
    folders: dict[Path, Folder] = field(default_factory=dict)
    problems: dict[Path, ConfigError] = field(default_factory=dict)
    """What is wrong with configuration files."""
    _opened: dict[str, Opened] = field(default_factory=dict)
    _holders: dict[str, str] = field(default_factory=dict)
    """In what a document is opened: in itself, or in a notebook."""
    _saved: dict[str, Opened] = field(default_factory=dict)
    _focus: str = ""
    _elsewhere: Folder = field(default_factory=lambda: Folder(Path.cwd()))

    @property
    def opened(self) -> list[Opened]:
        """The open documents and notebooks, the one that was touched last first."""
        return sorted(self._opened.values(), key=lambda opened: uris.same(opened.uri) != self._focus)

    @property
    def uris(self) -> dict[str, str]:
        """The URIs of what is open by the filename that findings know it by."""
        return {str(self.path(opened)): opened.uri for opened in self.opened}

    @property
    def documents(self) -> list[Document]:
        """The open documents, cells of notebooks among them."""
        return [document for opened in self.opened for document in parts(opened)]

    def document(self, uri: str) -> Document | None:
        """An open document, however its URI is spelled; it may be a cell."""
        opened, same = self.whole(uri), uris.same(uri)
        found = parts(opened) if opened is not None else ()
        return next((part for part in found if uris.same(part.uri) == same), None)

    def notebook(self, uri: str) -> NotebookDocument | None:
        """An open notebook."""
        opened = self._opened.get(uris.same(uri))
        return opened if isinstance(opened, NotebookDocument) else None

    def whole(self, uri: str) -> Opened | None:
        """The document with a URI, or the notebook that it is a cell of."""
        return self._opened.get(self._holders.get(uris.same(uri), ""))

    def put(self, opened: Opened) -> None:
        """Something was opened, or has a new version."""
        self._focus = uris.same(opened.uri)
        self._release(self._opened.get(self._focus))
        self._opened[self._focus] = opened
        self._holders |= {uris.same(part.uri): self._focus for part in parts(opened)}

    def save(self, opened: Opened) -> None:
        """Something was saved, or opened as it is saved."""
        self._saved[uris.same(opened.uri)] = opened

    def drop(self, uri: str) -> None:
        """A document or a notebook was closed."""
        self._saved.pop(uris.same(uri), None)
        self._release(self._opened.pop(uris.same(uri), None))

    def _release(self, opened: Opened | None) -> None:
        for part in parts(opened) if opened is not None else ():
            self._holders.pop(uris.same(part.uri), None)

    def linted(self, opened: Opened) -> Opened:
        """The version of it that diagnostics are about: by the user's choice, the one saved last."""
        if self.folder(opened).preferences.run == "onSave":
            return self._saved.get(uris.same(opened.uri), opened)
        return opened

    def set_folders(self, opened: Iterable[tuple[str, str]]) -> None:
        """The folders that are open now, by URI and name."""
        roots = {path: uri for uri, _ in opened if (path := uris.to_path(uri)) is not None}
        self.folders = {path: self.folders.get(path) or Folder(path, uri, self.section) for path, uri in roots.items()}
        self._elsewhere = Folder(next(iter(roots), Path.cwd()), section=self.section)

    def prefer(self, section: Mapping[str, object]) -> None:
        """The user's settings where no folder has its own."""
        self.section = section
        for folder in self.all_folders:
            folder.prefer(section)

    @property
    def preferences(self) -> Preferences:
        """The user's preferences where no folder has its own."""
        return self._elsewhere.preferences

    @property
    def all_folders(self) -> list[Folder]:
        """The folders, and what stands for all that is in none of them."""
        return [*self.folders.values(), self._elsewhere]

    def reload(self) -> None:
        """Read configuration files again."""
        for folder in self.all_folders:
            folder.reload()

    def reload_unwatched(self) -> None:
        """Read configuration files again if the client does not tell when they change."""
        if not self.client.watches:
            self.reload()

    def folder(self, opened: Opened) -> Folder:
        """The folder whose preferences hold for a document, or for the notebook that it is a cell of."""
        path = (self.whole(opened.uri) or opened).path
        return (path and folder_of(path, self.folders)) or self._elsewhere

    def path(self, opened: Opened) -> Path:
        """Where something is, or would be if it were saved in the first folder.

        The client says what is a notebook: some editors have the Python of one as the text of its file.
        """
        opened = self.whole(opened.uri) or opened
        path = opened.path or self._elsewhere.root / quote(opened.uri, safe="", errors="replace")
        if is_notebook(path) is isinstance(opened, NotebookDocument):
            return path
        return Path(f"{path}.py" if is_notebook(path) else f"{path}.ipynb")

    def settings(self, opened: Opened) -> Settings:
        """The settings that hold for something."""
        settings, problem = self.folder(opened).settings_of(self.path(opened))
        problem = problem or problem_of(settings) or notice_of(settings)
        if problem is not None and problem.file is not None:
            self.problems[problem.file] = problem
        return settings

    def tasks(self) -> dict[Opened, Task]:
        """What to lint, the one that was touched last first. Notes what is wrong with their settings."""
        self.problems = {}
        return self.tasks_of(map(self.linted, self.opened))

    def tasks_of(self, wanted: Iterable[Opened]) -> dict[Opened, Task]:
        """Those of some documents and notebooks that are to be linted."""
        found: dict[Opened, Task] = {}
        for opened in wanted:
            if not opened.is_python or not self.folder(opened).preferences.enable:
                continue
            settings, path = self.settings(opened), self.path(opened)
            if not is_excluded(path, settings.discovery):
                found[opened] = Task(path, settings, data=opened.data)
        return found
