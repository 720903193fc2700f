"""`workspace/didChangeWorkspaceFolders`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server import uris
from exportlint.server.server import Server
from exportlint.server.settings import pull

METHOD = types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS


async def handle(server: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Folders were added or removed."""
    gone = {uris.same(folder.uri) for folder in params.event.removed}
    kept = [(folder.uri, "") for folder in server.session.folders.values() if uris.same(folder.uri) not in gone]
    server.session.set_folders([*kept, *((folder.uri, folder.name) for folder in params.event.added)])
    await pull(server)
