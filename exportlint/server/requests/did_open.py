"""`textDocument/didOpen`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.documents import Document
from exportlint.server.server import Server

METHOD = types.TEXT_DOCUMENT_DID_OPEN


def handle(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    """Look at a document from now on."""
    document = Document.of(params.text_document)
    server.session.put(document)
    server.session.save(document)
    server.session.reload_unwatched()
    server.look()
