"""`exportlint.showFindings`: leads to what a code lens counts, in clients that do not list it themselves."""

from __future__ import annotations

from typing import Any

from cattrs.errors import BaseValidationError
from lsprotocol import types

from exportlint.server.diagnostics import plain_converter
from exportlint.server.server import Server

NAME = "exportlint.showFindings"


async def run(
    server: Server, uri: object = None, position: object = None, locations: Any = None, *others: object
) -> None:
    """Open the first of the locations; a client that opens nothing is told where they are."""
    try:
        places = [plain_converter().structure(location, types.Location) for location in locations or ()]
    except (BaseValidationError, TypeError, KeyError, ValueError):
        places = []
    if not places:
        return
    first = places[0]
    if server.session.client.shows_documents:
        await server.window_show_document_async(
            types.ShowDocumentParams(first.uri, take_focus=True, selection=first.range)
        )
        return
    rows = ", ".join(str(place.range.start.line + 1) for place in places)
    lines = "lines" if len(places) > 1 else "line"
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"exportlint: see {lines} {rows}"))
