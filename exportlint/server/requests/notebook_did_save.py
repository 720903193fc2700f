"""`notebookDocument/didSave`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.server import Server

METHOD = types.NOTEBOOK_DOCUMENT_DID_SAVE


def handle(server: Server, params: types.DidSaveNotebookDocumentParams) -> None:
    """What is saved now is what there is to look at, if the user wants only that to be looked at."""
    notebook = server.session.notebook(params.notebook_document.uri)
    if notebook is not None:
        server.session.save(notebook)
        server.look()
