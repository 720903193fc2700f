"""`textDocument/didClose`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.server import Server

METHOD = types.TEXT_DOCUMENT_DID_CLOSE


def handle(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    """Show nothing of a document any more; others see its file as it is on the disk."""
    server.session.drop(params.text_document.uri)
    server.look()
