"""All steps of a trail, of which diagnostics show those that explain most."""

from __future__ import annotations

from lsprotocol import types

from exportlint.findings import Finding, Step
from exportlint.report import shortened
from exportlint.server.actions import QUICK_FIX, Asked
from exportlint.server.commands import show_findings
from exportlint.server.diagnostics import location


async def offer(asked: Asked) -> list[types.CodeAction]:
    """For each finding whose trail is shortened, the command that leads to all of its steps."""
    analysis = asked.analysis
    if analysis is None or not asked.wants(QUICK_FIX):
        return []
    client, opened = asked.server.session.client, asked.server.session.uris
    actions = []
    for finding in asked.findings:
        if len(shortened(finding.trail)) == len(finding.trail):
            continue
        steps: tuple[Step | Finding, ...] = (*finding.trail, finding)
        places = [location(step, analysis, client, opened) for step in steps]
        title = f"Show all {len(finding.trail)} steps to {finding.code}"
        arguments = [asked.document.uri, asked.place.start, [place for place in places if place is not None]]
        command = types.Command(title, show_findings.NAME, arguments=arguments)
        actions.append(types.CodeAction(title, kind=QUICK_FIX, diagnostics=asked.shown([finding]), command=command))
    return actions
