"""`notebookDocument/didChange`."""

from __future__ import annotations

import logging

from lsprotocol import types

from exportlint.server.server import Server

METHOD = types.NOTEBOOK_DOCUMENT_DID_CHANGE


def handle(server: Server, params: types.DidChangeNotebookDocumentParams) -> None:
    """Look at the new version of a notebook."""
    session, given = server.session, params.notebook_document
    notebook = session.notebook(given.uri)
    if notebook is None:
        logging.getLogger(__name__).warning("didChange of the notebook %s, which is not open", given.uri)
        return
    if params.change.cells is not None:
        session.put(notebook.changed(given.version, params.change.cells, session.client.encoding))
        server.look()
