"""`workspace/didChangeWatchedFiles`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server import uris
from exportlint.server.server import Server
from exportlint.server.settings import heed

METHOD = types.WORKSPACE_DID_CHANGE_WATCHED_FILES


def handle(server: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Read what changed again, settings or code."""
    changes = [(path, change.type) for change in params.changes if (path := uris.to_path(change.uri)) is not None]
    if any(path.suffix == ".toml" for path, _ in changes):
        server.session.reload()
        heed(server)
    code = [(path, kind) for path, kind in changes if path.suffix != ".toml"]
    server.look([path for path, _ in code], anew=any(kind is not types.FileChangeType.Changed for _, kind in code))
