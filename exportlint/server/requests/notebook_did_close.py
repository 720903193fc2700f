"""`notebookDocument/didClose`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.server import Server

METHOD = types.NOTEBOOK_DOCUMENT_DID_CLOSE


def handle(server: Server, params: types.DidCloseNotebookDocumentParams) -> None:
    """Show nothing of a notebook any more."""
    server.session.drop(params.notebook_document.uri)
    server.look()
