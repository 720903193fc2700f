"""`exportlint.addVerifyTarget`: writes a target for a class into the configuration, to be completed by the user."""

from __future__ import annotations

from lsprotocol import types

from exportlint.config import ConfigError
from exportlint.server.documents import Document
from exportlint.server.server import Server
from exportlint.server.verification.configuring import addition, edit_of, place_of

NAME = "exportlint.addVerifyTarget"


async def run(server: Server, uri: object = None, name: object = None, *others: object) -> None:
    """Have the client append a table for the class `name` of a document, and show it."""
    session = server.session
    document = session.document(uri) if isinstance(uri, str) else None
    if document is None or not isinstance(session.whole(document.uri), Document) or not isinstance(name, str):
        server.say(f"`{uri}` is not an open Python file, or the command does not name a class")
        return
    if not session.client.applies_edits:
        server.say("this editor applies edits only from code actions")
        return
    try:
        wanted = await addition(session, document, name)
    except ConfigError as error:
        server.say(f"no target was added: {error}")
        return
    answer = await server.workspace_apply_edit_async(
        types.ApplyWorkspaceEditParams(edit_of(wanted, session), f"Add a verify target for {name}")
    )
    if not answer.applied:
        server.say(f"the target was not added: {answer.failure_reason or 'the editor refused it'}")
    elif session.client.shows_documents:
        place = place_of(wanted)
        await server.window_show_document_async(
            types.ShowDocumentParams(place.uri, take_focus=True, selection=place.range)
        )
