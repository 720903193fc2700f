"""Quick fixes: what the fix of one finding changes, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from exportlint.findings import Applicability, Finding, Fix
from exportlint.server.actions import QUICK_FIX, Asked
from exportlint.server.edits import text_edits, workspace_edit

_HOW = {Applicability.SAFE: "", Applicability.UNSAFE: " (unsafe)", Applicability.DISPLAY_ONLY: " (proposal)"}


def titled(fix: Fix) -> str:
    """What a fix does, and how far it can be trusted."""
    return f"{fix.message}{_HOW[fix.applicability]}"


async def offer(asked: Asked) -> list[types.CodeAction]:
    """The fixes of the findings."""
    if not asked.wants(QUICK_FIX) or not asked.preferences.fix_violation:
        return []
    return [action for finding in asked.findings for action in _fix(asked, finding)]


def _fix(asked: Asked, finding: Finding) -> Iterator[types.CodeAction]:
    fix, client = finding.fix, asked.server.session.client
    if fix is None or asked.analysis is None:
        return
    changed = asked.analysis.by_document(fix.edits)
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
    yield action
