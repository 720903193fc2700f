"""`initialized`: ask to be told of files that change, and for the settings of each folder."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.server import Server
from exportlint.server.settings import pull

METHOD = types.INITIALIZED


async def handle(server: Server, params: types.InitializedParams) -> None:
    """Register what can only be registered now."""
    client = server.session.client
    wanted: list[types.Registration] = []
    if client.watches:
        # Any file may be extended by a configuration.
        patterns = ["**/*.toml", "**/*.{py,pyi}", "**/*baseline*"]
        watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
        wanted.append(
            _registration(
                types.WORKSPACE_DID_CHANGE_WATCHED_FILES, types.DidChangeWatchedFilesRegistrationOptions(watchers)
            )
        )
    if client.watches_configuration:
        wanted.append(
            _registration(
                types.WORKSPACE_DID_CHANGE_CONFIGURATION, types.DidChangeConfigurationRegistrationOptions("exportlint")
            )
        )
    if wanted:
        server.client_register_capability(types.RegistrationParams(wanted))
    await pull(server)


def _registration(method: str, options: object) -> types.Registration:
    return types.Registration(id=f"exportlint.{method}", method=method, register_options=options)
