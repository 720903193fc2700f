"""Reads the editor's settings, in each of the ways in which a client can send them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from lsprotocol import types

from exportlint.server.logs import set_level
from exportlint.server.preferences import KEYS, flat
from exportlint.server.server import Server

SECTION = "exportlint"

log = logging.getLogger(__name__)


async def pull(server: Server) -> None:
    """Ask the client for the settings of each folder, if it supports that, and analyze all documents with them."""
    session = server.session
    folders = list(session.folders.values())
    if session.client.configuration:
        items = [types.ConfigurationItem(scope_uri=folder.uri, section=SECTION) for folder in folders]
        try:
            answers = await server.workspace_configuration_async(
                types.ConfigurationParams([*items, types.ConfigurationItem(section=SECTION)])
            )
        except Exception as error:  # whatever the client has against it, the settings stay
            log.warning("the client does not send its settings: %s", error)
        else:
            *own, everywhere = [*answers, *[None] * (len(items) + 1)][: len(items) + 1]
            if isinstance(everywhere, Mapping):
                session.prefer(_with_initial(server, everywhere))
            for folder, answer in zip(folders, own, strict=True):
                if isinstance(answer, Mapping):
                    folder.prefer(_with_initial(server, answer))
    session.reload()
    heed(server)
    server.look()


def take(server: Server, given: Any) -> None:
    """Use settings that a client sends, for all folders. Settings of other servers are ignored."""
    section = given.get(SECTION, given) if isinstance(given, Mapping) else None
    if isinstance(section, Mapping) and (section is not given or any(key in KEYS for key in flat(section))):
        server.session.prefer(_with_initial(server, section))
        heed(server)
    server.session.reload()
    server.look()


def start_with(server: Server, options: Any) -> None:
    """Use the settings in `initialize`, which later settings override. The token is not a setting."""
    rest = {key: value for key, value in options.items() if key != "token"} if isinstance(options, Mapping) else {}
    given = rest.get("settings", rest)
    section = given.get(SECTION, given) if isinstance(given, Mapping) else None
    server.initial = flat(section) if isinstance(section, Mapping) else {}
    server.session.prefer(server.initial)
    heed(server)


def _with_initial(server: Server, section: Mapping[str, object]) -> Mapping[str, object]:
    return {**server.initial, **flat(section)}


def heed(server: Server) -> None:
    """Set the log level, and show errors in the settings that were not shown before."""
    session = server.session
    set_level(session.preferences.log_level)
    heeded = [folder.preferences for folder in session.all_folders if folder.preferences.enable]
    problems = dict.fromkeys(problem for preferences in heeded for problem in preferences.problems)
    for problem in problems:
        if problem not in server.complaints:
            log.warning("%s", problem)
    server.complaints = frozenset(problems)
