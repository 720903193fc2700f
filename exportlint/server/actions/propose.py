"""What torch.export proposes where it fails: for people to judge, who know what it cannot."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.actions import QUICK_FIX, Asked
from exportlint.server.diagnostics import remark_diagnostic
from exportlint.server.edits import text_edits, workspace_edit
from exportlint.server.ranges import span_of


async def offer(asked: Asked) -> list[types.CodeAction]:
    """The proposals for the rows that are asked about."""
    if asked.analysis is None or not asked.wants(QUICK_FIX) or not asked.preferences.fix_violation:
        return []
    client, document, analysis = asked.server.session.client, asked.document, asked.analysis
    place = span_of(asked.place, document.lines, client.encoding)
    return [
        types.CodeAction(
            f"{fix.message} (proposal)",
            kind=QUICK_FIX,
            diagnostics=[remark_diagnostic(remark, analysis, client)],
            edit=workspace_edit({document: text_edits(fix.edits, document, client)}, client),
        )
        for remark in analysis.seen.remarks
        if place.start.row <= remark.row <= place.end.row
        for fix in remark.fixes
    ]
