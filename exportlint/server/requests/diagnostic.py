"""`textDocument/diagnostic`: the diagnostics of a document, for a client that asks for them."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types

from exportlint.server.client import Client
from exportlint.server.diagnostics import digest
from exportlint.server.server import Server

METHOD = types.TEXT_DOCUMENT_DIAGNOSTIC

_Reports = Mapping[str, types.FullDocumentDiagnosticReport]


def wanted(client: Client) -> bool:
    """Never both this and pushing."""
    return client.pulls


def options(client: Client) -> types.DiagnosticOptions:
    """A finding may come from another file."""
    return types.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=client.pulls_all, identifier="exportlint"
    )


async def handle(server: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """The diagnostics of the document as it is now, as soon as they are known."""
    related = await _related(server, params.text_document.uri)
    shown = await _told(server, params.text_document.uri)
    name = digest(shown)
    if params.previous_result_id == name:
        return types.RelatedUnchangedDocumentDiagnosticReport(name, related_documents=related)
    return types.RelatedFullDocumentDiagnosticReport(shown, result_id=name, related_documents=related)


async def _told(server: Server, uri: str) -> list[types.Diagnostic]:
    analysis = await server.analysis(uri)
    server.told(uri, analysis)
    return [] if analysis is None else server.diagnostics(analysis)


async def _related(server: Server, uri: str) -> _Reports | None:
    """What is found in the open documents that depend on one, or on which it depends."""
    if not server.session.client.related_documents:
        return None
    reports: dict[str, types.FullDocumentDiagnosticReport] = {}
    for related in server.related(uri):
        shown = await _told(server, related)
        reports[related] = types.FullDocumentDiagnosticReport(shown, result_id=digest(shown))
    return reports or None
