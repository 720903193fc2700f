"""Having a model verified, for editors that show no lenses: on the line of its class."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.actions import VERIFY, Asked
from exportlint.server.commands import cancel_verification, verify_module
from exportlint.server.documents import Document
from exportlint.server.ranges import span_of
from exportlint.workspace import ClassSite


async def offer(asked: Asked) -> list[types.CodeAction]:
    """The command that verifies a model, if its class is asked about."""
    if asked.analysis is None or not asked.preferences.verify or not asked.wants(VERIFY):
        return []
    if not isinstance(asked.analysis.outcome.opened, Document):
        return []
    place = span_of(asked.place, asked.document.lines, asked.server.session.client.encoding)
    return [
        _action(asked, site)
        for site in asked.analysis.classes
        if site.is_model and site.header.start <= place.end and place.start <= site.header.end
    ]


def _action(asked: Asked, site: ClassSite) -> types.CodeAction:
    """What verifies a model, or ends that while it is done."""
    uri = asked.document.uri
    if asked.server.verifier.is_running(uri, site.name):
        title = f"Cancel verifying {site.name}"
        return types.CodeAction(
            title, kind=VERIFY, command=types.Command(title, cancel_verification.NAME, arguments=[uri])
        )
    title = f"Verify export of {site.name}"
    command = types.Command(title, verify_module.NAME, arguments=[uri, site.name])
    return types.CodeAction(title, kind=VERIFY, command=command)
