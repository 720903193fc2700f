"""`initialize`: learn what the client can do and which folders it has open."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder

from exportlint.server import requests, uris
from exportlint.server.client import Client
from exportlint.server.logs import configure
from exportlint.server.preferences import Preferences
from exportlint.server.server import Server

METHOD = types.INITIALIZE


def handle(server: Server, params: types.InitializeParams) -> None:
    """Take down what the client says of itself, and offer it what it can use."""
    server.begin()
    encoding = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
    session = server.session
    session.client = Client.of(params.capabilities, str(getattr(encoding, "value", encoding)))
    folders = [(folder.uri, folder.name) for folder in params.workspace_folders or ()]
    if not folders and (root := _root(params)) is not None:
        folders = [(root, "")]
    session.set_folders(folders)
    options = params.initialization_options
    section = options.get("settings", options) if isinstance(options, Mapping) else {}
    configure(section)
    session.prefer(Preferences.of(section, next(iter(session.folders), Path.cwd())))
    for problem in session.preferences.problems:
        logging.getLogger(__name__).warning("%s", problem)
    requests.register_rest(server)


def _root(params: types.InitializeParams) -> str | None:
    if params.root_uri:
        return params.root_uri
    return uris.from_path(Path(params.root_path)) if params.root_path and Path(params.root_path).is_absolute() else None
