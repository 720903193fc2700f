"""`textDocument/codeAction`."""

from __future__ import annotations

from dataclasses import replace

from lsprotocol import types

from exportlint.server.actions import (
    FIX_ALL,
    FIX_NOTEBOOK,
    QUICK_FIX,
    VERIFY,
    Asked,
    fix,
    fix_all,
    ignore,
    propose,
    target,
    trail,
    verify,
)
from exportlint.server.client import Client
from exportlint.server.server import Server

METHOD = types.TEXT_DOCUMENT_CODE_ACTION


def options(client: Client) -> types.CodeActionOptions:
    """The kinds that there are."""
    kinds: list[types.CodeActionKind | str] = [QUICK_FIX, FIX_ALL, FIX_NOTEBOOK, VERIFY]
    return types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)


async def handle(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """What can be done about a part of the document, and the findings in it, as it was when this was asked."""
    session = server.session
    document = session.document(params.text_document.uri)
    if document is None:
        return []
    analysis = await server.analysis(document.uri)
    opened = session.whole(document.uri)
    if session.document(document.uri) is not document or opened is None or opened not in session.tasks_of([opened]):
        return []
    known = analysis if analysis is not None and analysis.document == document else None
    asked = Asked(server, document, params.range, params.context, known)
    if known is not None and asked.needs_fixes:
        known = await server.with_fixes(known)
        if session.document(document.uri) is not document:
            return []
        asked = replace(asked, analysis=known)
    kinds = (fix, propose, target, fix_all, ignore, trail, verify)
    return [action for kind in kinds for action in await kind.offer(asked)]
