"""What the server knows of its client: what it can do, its folders and settings, and what it has open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exportlint.config import ConfigError, Settings
from exportlint.server import uris
from exportlint.server.client import Client
from exportlint.server.documents import Document
from exportlint.server.folders import Folder, folder_of
from exportlint.server.preferences import Preferences
from exportlint.source import is_excluded
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
    _documents: dict[str, Document] = field(default_factory=dict)
    _saved: dict[str, Document] = field(default_factory=dict)
    _focus: str = ""
    _elsewhere: Folder = field(default_factory=lambda: Folder(Path.cwd()))

    @property
    def documents(self) -> list[Document]:
        """The open documents, the one that was touched last first."""
        return sorted(self._documents.values(), key=lambda document: uris.same(document.uri) != self._focus)

    def document(self, uri: str) -> Document | None:
        """An open document, however its URI is spelled."""
        return self._documents.get(uris.same(uri))

    def put(self, document: Document) -> None:
        """A document was opened, or has a new version."""
        self._focus = uris.same(document.uri)
        self._documents[self._focus] = document

    def save(self, document: Document) -> None:
        """A document was saved, or opened as it is saved."""
        self._saved[uris.same(document.uri)] = document

    def drop(self, uri: str) -> Document | None:
        """A document was closed. Returns what it was."""
        self._saved.pop(uris.same(uri), None)
        return self._documents.pop(uris.same(uri), None)

    def linted(self, document: Document) -> Document:
        """The version of a document that diagnostics are about: by the user's choice, the one saved last."""
        if self.folder(document).preferences.run == "onSave":
            return self._saved.get(uris.same(document.uri), document)
        return document

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

    def folder(self, document: Document) -> Folder:
        """The folder whose preferences hold for a document."""
        return (document.path and folder_of(document.path, self.folders)) or self._elsewhere

    def path(self, document: Document) -> Path:
        """Where a document is, or would be if it were saved in the first folder."""
        return document.path or self._elsewhere.root / document.uri.replace("/", "_")

    def settings(self, document: Document) -> Settings:
        """The settings that hold for a document."""
        settings, problem = self.folder(document).settings_of(self.path(document))
        if problem is not None and problem.file is not None:
            self.problems[problem.file] = problem
        return settings

    def tasks(self) -> dict[Document, Task]:
        """The documents to lint, the one that was touched last first. Notes what is wrong with their settings."""
        self.problems = {}
        return self.tasks_of(map(self.linted, self.documents))

    def tasks_of(self, documents: Iterable[Document]) -> dict[Document, Task]:
        """Those of some documents that are to be linted."""
        found: dict[Document, Task] = {}
        for document in documents:
            if not document.is_python or not self.folder(document).preferences.enable:
                continue
            settings, path = self.settings(document), self.path(document)
            if not is_excluded(path, settings.discovery):
                found[document] = Task(path, settings, data=document.data)
        return found
