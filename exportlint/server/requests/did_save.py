"""`textDocument/didSave`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.server import Server

METHOD = types.TEXT_DOCUMENT_DID_SAVE


def handle(server: Server, params: types.DidSaveTextDocumentParams) -> None:
    """What is saved now is what there is to look at, if the user wants only that to be looked at."""
    document = server.session.document(params.text_document.uri)
    if document is not None:
        server.session.save(document)
        server.session.reload_unwatched()
        server.look()
