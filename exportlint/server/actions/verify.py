"""Having a model verified, for editors that show no lenses: on the line of its class."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.actions import VERIFY, Asked
from exportlint.server.commands import verify_module
from exportlint.server.documents import Document
from exportlint.server.ranges import span_of


async def offer(asked: Asked) -> list[types.CodeAction]:
    """The command that verifies a model, if its class is asked about."""
    if asked.analysis is None or not asked.preferences.verify or not asked.wants(VERIFY):
        return []
    if not isinstance(asked.analysis.outcome.opened, Document):
        return []
    place = span_of(asked.place, asked.document.lines, asked.server.session.client.encoding)
    return [
        types.CodeAction(
            title := f"Verify export of {site.name}",
            kind=VERIFY,
            command=types.Command(title, verify_module.NAME, arguments=[asked.document.uri, site.name]),
        )
        for site in asked.analysis.classes
        if site.is_model and site.header.start <= place.end and place.start <= site.header.end
    ]
