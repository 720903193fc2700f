"""`textDocument/didChange`."""

from __future__ import annotations

import logging

from lsprotocol import types

from exportlint.server.server import Server

METHOD = types.TEXT_DOCUMENT_DID_CHANGE


def handle(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    """Look at the new version of a document."""
    session, given = server.session, params.text_document
    document = session.document(given.uri)
    if document is None or session.whole(given.uri) is not document:
        logging.getLogger(__name__).warning("didChange of %s, which is not open", given.uri)
        return
    session.put(document.changed(given.version, params.content_changes, session.client.encoding))
    server.look()
