"""`workspace/didChangeConfiguration`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.server import Server
from exportlint.server.settings import pull, take

METHOD = types.WORKSPACE_DID_CHANGE_CONFIGURATION


async def handle(server: Server, params: types.DidChangeConfigurationParams) -> None:
    """Ask for the settings again; a client that cannot be asked sends them along."""
    if server.session.client.configuration:
        await pull(server)
    else:
        take(server, params.settings)
