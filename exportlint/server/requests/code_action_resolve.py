"""`codeAction/resolve`: the edit of an action that was chosen."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.actions import fix_all
from exportlint.server.server import Server

METHOD = types.CODE_ACTION_RESOLVE


async def handle(server: Server, params: types.CodeAction) -> types.CodeAction:
    """The action with its edit; one that has all it needs, or that is not ours, as it came."""
    await fix_all.resolve(server, params)
    return params
