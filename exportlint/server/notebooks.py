"""Notebooks as the client has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsprotocol import types

from exportlint.server.documents import Document
from exportlint.server.uris import same, to_path
from exportlint.source import PositionEncoding, as_json

SYNC = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook("*", [types.NotebookCellLanguage("python")])], save=True
)
"""Which notebooks and which of their cells the client is to tell of."""


@dataclass(frozen=True)
class NotebookDocument:
    """One version of an open notebook. Each of its cells is a document of its own.

    `synced` are the cells that the client tells of, in its order; there may be some that are not Python.
    """

    uri: str
    version: int
    synced: tuple[Document, ...]
    language: str = "python"
    is_python: bool = True

    @property
    def path(self) -> Path | None:
        """Where it is on the disk; None if it is not there, such as a new one."""
        return to_path(self.uri)

    @cached_property
    def cells(self) -> tuple[Document, ...]:
        """The Python cells."""
        return tuple(cell for cell in self.synced if cell.is_python)

    @cached_property
    def data(self) -> bytes:
        """A notebook file with these cells."""
        return as_json(cell.text for cell in self.cells)

    def changed(
        self, version: int, change: types.NotebookDocumentCellChanges, encoding: PositionEncoding
    ) -> NotebookDocument:
        """The version after cells came, went, moved or were edited."""
        cells = list(self.synced)
        if (structure := change.structure) is not None:
            opened = {same(item.uri): Document.of(item) for item in structure.did_open or ()}
            opened |= {same(cell.uri): cell for cell in cells if same(cell.uri) not in opened}
            start, gone = structure.array.start, structure.array.delete_count
            new = [opened[same(cell.document)] for cell in structure.array.cells or () if same(cell.document) in opened]
            cells[start : start + gone] = new
        for edited in change.text_content or ():
            cells = [
                cell.changed(edited.document.version, edited.changes, encoding)
                if same(cell.uri) == same(edited.document.uri)
                else cell
                for cell in cells
            ]
        return NotebookDocument(self.uri, version, tuple(cells))


Opened = Document | NotebookDocument
"""What is analysed as a whole."""


def parts(opened: Opened) -> tuple[Document, ...]:
    """The documents that the client shows of it."""
    return opened.cells if isinstance(opened, NotebookDocument) else (opened,)
