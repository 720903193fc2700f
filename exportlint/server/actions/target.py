"""A target in the configuration for a model that cannot be built without one."""

from __future__ import annotations

from lsprotocol import types

from exportlint.config import ConfigError
from exportlint.server.actions import QUICK_FIX, Asked
from exportlint.server.commands import show_findings
from exportlint.server.diagnostics import remark_diagnostic
from exportlint.server.ranges import span_of
from exportlint.server.verification.configuring import addition, edit_of, place_of


async def offer(asked: Asked) -> list[types.CodeAction]:
    """The edits that write targets for the models of the rows that are asked about."""
    analysis, session = asked.analysis, asked.server.session
    if analysis is None or not analysis.seen.remarks or not asked.wants(QUICK_FIX):
        return []
    place = span_of(asked.place, asked.document.lines, session.client.encoding)
    actions = []
    for remark in analysis.seen.remarks:
        site = next((site for site in analysis.classes if site.header.start.row == remark.row), None)
        if site is None or not remark.needs_target or not place.start.row <= remark.row <= place.end.row:
            continue
        try:
            wanted = await addition(session, asked.document, site.name)
        except ConfigError:  # the command says why
            continue
        action = types.CodeAction(
            f"Add a verify target for `{site.name}` to {wanted.file.name}",
            kind=QUICK_FIX,
            diagnostics=[remark_diagnostic(remark, analysis, session.client)],
            edit=edit_of(wanted, session),
        )
        if session.client.shows_documents:
            shown = place_of(wanted)
            arguments = [shown.uri, shown.range.start, [shown]]
            action.command = types.Command("Show the target", show_findings.NAME, arguments=arguments)
        actions.append(action)
    return actions
