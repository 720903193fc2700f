"""`workspace/diagnostic`: what is found in all files, for a user who wants that and a client that asks for it."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.client import Client
from exportlint.server.diagnostics import diagnostics, digest
from exportlint.server.server import Server

METHOD = types.WORKSPACE_DIAGNOSTIC


def wanted(client: Client) -> bool:
    """Only if the user says so."""
    return client.pulls_all


async def handle(server: Server, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
    """The diagnostics of the files that are not open.

    Clients ask again as soon as they have an answer. So there is none before anything has changed since the last one.
    """
    session = server.session
    before = {previous.uri: previous.value for previous in params.previous_result_ids}
    if before:
        await server.change()
    number = server.orders
    items: list[types.WorkspaceDocumentDiagnosticReport] = []
    for analysis in await server.everything.closed(session.folders.values(), server.tasks):
        uri = analysis.document.uri
        shown = diagnostics(analysis, session.client, server.session.uris)
        name = digest(shown)
        if before.pop(uri, None) == name:
            items.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri, name))
        else:
            items.append(types.WorkspaceFullDocumentDiagnosticReport(uri, shown, result_id=name))
    # Those of open documents come with them, those of files that are gone are gone.
    nothing = digest([])
    gone = [uri for uri, name in before.items() if name != nothing and session.document(uri) is None]
    items += [types.WorkspaceFullDocumentDiagnosticReport(uri, [], result_id=nothing) for uri in gone]
    server.reported = number
    return types.WorkspaceDiagnosticReport(items)
