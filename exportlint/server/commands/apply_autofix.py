"""`exportlint.applyAutofix`: fixes a document, or all that are open."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.edits import workspace_edit
from exportlint.server.fixing import fixed
from exportlint.server.notebooks import parts
from exportlint.server.server import Server

NAME = "exportlint.applyAutofix"

_LABEL = "Fix all with exportlint"


async def run(server: Server, document: object = None, *others: object) -> None:
    """Have the client apply all fixes that `Fix all with exportlint` takes.

    To a document, a notebook or that of a cell, by the URI; or to all.
    """
    session = server.session
    if not session.client.applies_edits:
        server.say("this editor applies edits only from code actions")
        return
    uri = document.get("uri") if isinstance(document, dict) else document
    opened = session.whole(uri) or session.notebook(uri) if isinstance(uri, str) else None
    if document is not None and opened is None:
        server.say(f"`{uri}` is not open")
        return
    edits = await fixed(server, session.documents if opened is None else parts(opened))
    if not edits:
        return
    answer = await server.workspace_apply_edit_async(
        types.ApplyWorkspaceEditParams(workspace_edit(edits, session.client), _LABEL)
    )
    if not answer.applied:
        server.say(f"the fixes were not applied: {answer.failure_reason or 'the editor refused them'}")
