"""Quick fixes: what the fix of one finding changes, and the imports that nothing uses after it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from lsprotocol import types

from exportlint.findings import Applicability, Edit, Finding, Fix
from exportlint.server.actions import QUICK_FIX, Asked
from exportlint.server.analyses import Analysis
from exportlint.server.edits import text_edits, workspace_edit
from exportlint.source import Notebook

_HOW = {Applicability.SAFE: "", Applicability.UNSAFE: " (unsafe)", Applicability.DISPLAY_ONLY: " (proposal)"}


def titled(fix: Fix) -> str:
    """What a fix does, and how far it can be trusted."""
    return f"{fix.message}{_HOW[fix.applicability]}"


async def offer(asked: Asked) -> list[types.CodeAction]:
    """The fixes of the findings."""
    if not asked.wants(QUICK_FIX) or not asked.preferences.fix_violation:
        return []
    actions = [await _action(asked, finding, finding.fix) for finding in asked.findings if finding.fix is not None]
    return [action for action in actions if action is not None]


async def _action(asked: Asked, finding: Finding, fix: Fix) -> types.CodeAction | None:
    client = asked.server.session.client
    if asked.analysis is None:
        return None
    changed = asked.analysis.by_document(await _edits(asked.analysis, fix))
    action = types.CodeAction(
        f"{titled(fix)} ({finding.code})",
        kind=QUICK_FIX,
        diagnostics=asked.shown([finding]),
        edit=workspace_edit(
            {document: text_edits(edits, document, client) for document, edits in changed.items()}, client
        ),
    )
    if client.prefers_fixes and fix.applicability is Applicability.SAFE:
        action.is_preferred = True
    return action


async def _edits(analysis: Analysis, fix: Fix) -> Sequence[Edit]:
    """What a fix changes, and what leaves out the imports that nothing uses after it alone."""
    source = analysis.source
    if source is None or isinstance(source, Notebook):  # another cell may use them
        return fix.edits
    from exportlint.fixes.edit.layout import Layout

    line_length = analysis.outcome.task.settings.line_length
    return await asyncio.to_thread(lambda: Layout(source, line_length).edits(fix.edits))
