"""The editor's settings, from whichever way the client hands them over."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types

from exportlint.server.logs import configure
from exportlint.server.preferences import Preferences
from exportlint.server.server import Server

SECTION = "exportlint"

log = logging.getLogger(__name__)


async def pull(server: Server) -> None:
    """Ask for the settings of each folder, if the client can be asked, and look at everything with them."""
    session = server.session
    folders = list(session.folders.values())
    if session.client.configuration:
        items = [types.ConfigurationItem(scope_uri=folder.uri, section=SECTION) for folder in folders]
        try:
            answers = await server.workspace_configuration_async(
                types.ConfigurationParams([*items, types.ConfigurationItem(section=SECTION)])
            )
        except Exception as error:  # whatever the client has against it, the settings stay
            log.warning("the client does not tell its settings: %s", error)
        else:
            if len(answers) > len(items) and isinstance(answers[-1], Mapping):
                session.prefer(_checked(answers[-1], _root(server)))
            for folder, answer in zip(folders, answers, strict=False):
                if isinstance(answer, Mapping):
                    folder.prefer(_checked(answer, folder.root))
    session.reload()
    server.look()


def take(server: Server, given: Any) -> None:
    """Settings that a client sends, which hold everywhere."""
    section = given.get(SECTION, given) if isinstance(given, Mapping) else {}
    configure(section)
    server.session.prefer(_checked(section, _root(server)))
    server.look()


def _checked(section: Any, folder: Path) -> Preferences:
    preferences = Preferences.of(section, folder)
    for problem in preferences.problems:
        log.warning("%s", problem)
    return preferences


def _root(server: Server) -> Path:
    return next(iter(server.session.folders), Path.cwd())
