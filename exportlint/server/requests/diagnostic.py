"""`textDocument/diagnostic`: the diagnostics of a document, for a client that asks for them."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.client import Client
from exportlint.server.diagnostics import diagnostics, digest
from exportlint.server.server import Server

METHOD = types.TEXT_DOCUMENT_DIAGNOSTIC


def wanted(client: Client) -> bool:
    """Never both this and pushing."""
    return client.pulls


def options(client: Client) -> types.DiagnosticOptions:
    """A finding may come from another file."""
    return types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="exportlint")


async def handle(server: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """The diagnostics of the document as it is now, as soon as they are known."""
    analysis = await server.analysis(params.text_document.uri)
    shown = [] if analysis is None else diagnostics(analysis, server.session.client, server.opened)
    name = digest(shown)
    if params.previous_result_id == name:
        return types.RelatedUnchangedDocumentDiagnosticReport(name)
    return types.RelatedFullDocumentDiagnosticReport(shown, result_id=name)
