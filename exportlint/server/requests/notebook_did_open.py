"""`notebookDocument/didOpen`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.documents import Document
from exportlint.server.notebooks import NotebookDocument
from exportlint.server.server import Server

METHOD = types.NOTEBOOK_DOCUMENT_DID_OPEN


def handle(server: Server, params: types.DidOpenNotebookDocumentParams) -> None:
    """Look at a notebook from now on."""
    given = params.notebook_document
    texts = {item.uri: Document.of(item) for item in params.cell_text_documents}
    cells = tuple(texts[cell.document] for cell in given.cells if cell.document in texts)
    notebook = NotebookDocument(given.uri, given.version, cells)
    server.session.put(notebook)
    server.session.save(notebook)
    server.look()
