"""`initialize`: learn what the client can do and which folders it has open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder

from exportlint.server import requests, uris
from exportlint.server.client import Client
from exportlint.server.server import Server
from exportlint.server.settings import start_with

METHOD = types.INITIALIZE


def handle(server: Server, params: types.InitializeParams) -> None:
    """Take down what the client says of itself, and offer it what it can use."""
    server.begin()
    encoding = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
    session = server.session
    info = params.client_info
    name = f"{info.name} {info.version or ''}".strip() if info is not None else ""
    session.client = Client.of(params.capabilities, str(getattr(encoding, "value", encoding)), name)
    folders = [(folder.uri, folder.name) for folder in params.workspace_folders or ()]
    if not folders and (root := _root(params)) is not None:
        folders = [(root, "")]
    session.set_folders(folders)
    start_with(server, params.initialization_options)
    session.client = replace(
        session.client, pulls_all=session.client.pulls and session.preferences.workspace_diagnostics
    )
    server.watch(params.process_id)
    requests.register_rest(server)


def _root(params: types.InitializeParams) -> str | None:
    if params.root_uri:
        return params.root_uri
    return uris.from_path(Path(params.root_path)) if params.root_path and Path(params.root_path).is_absolute() else None
