"""`workspace/didChangeWatchedFiles`."""

from __future__ import annotations

from lsprotocol import types

from exportlint.config.toml import FILE_NAMES
from exportlint.server import uris
from exportlint.server.server import Server

METHOD = types.WORKSPACE_DID_CHANGE_WATCHED_FILES


def handle(server: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Read what changed again, settings or code."""
    changes = [(path, change.type) for change in params.changes if (path := uris.to_path(change.uri)) is not None]
    if any(path.name in FILE_NAMES for path, _ in changes):
        server.session.reload()
    code = [(path, kind) for path, kind in changes if path.name not in FILE_NAMES]
    server.look((path for path, _ in code), anew=any(kind is not types.FileChangeType.Changed for _, kind in code))
