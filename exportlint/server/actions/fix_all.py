"""All fixes of a document at once, of one rule or of all: what `exportlint --fix` would make of it."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from exportlint.findings import Applicability, Finding
from exportlint.server.actions import FIX_ALL, QUICK_FIX, Asked
from exportlint.server.edits import workspace_edit
from exportlint.server.fixing import fixed, most
from exportlint.server.server import Server


async def offer(asked: Asked) -> list[types.CodeAction]:
    """Fixes of several findings of one rule, and all of them."""
    if not asked.may_cost:
        return []
    return [*await _rules(asked), *await _everything(asked)]


async def _rules(asked: Asked) -> list[types.CodeAction]:
    if not asked.wants(QUICK_FIX) or not asked.preferences.fix_violation:
        return []
    actions: list[types.CodeAction] = []
    for code, name in dict.fromkeys((finding.code, finding.name) for finding in asked.findings):
        if sum(finding.code == code for finding in _fixable(asked)) > 1:
            title = f"Fix all {name} ({code}) in this file"
            shown = [finding for finding in asked.findings if finding.code == code]
            actions += await _offered(asked, title, QUICK_FIX, [code], shown)
    return actions


async def _everything(asked: Asked) -> list[types.CodeAction]:
    # What is not saved is perhaps not looked at, and may be fixed nevertheless when it is to be saved.
    unknown = asked.analysis is None and asked.names(asked.fix_all)
    if not asked.wants(asked.fix_all) or not asked.preferences.fix_all or not (unknown or _fixable(asked)):
        return []
    return await _offered(asked, "Fix all with exportlint", asked.fix_all, None, [])


def _fixable(asked: Asked) -> list[Finding]:
    findings = asked.analysis.outcome.findings if asked.analysis is not None else ()
    limit: Applicability = most(asked.server, asked.document)
    return [f for f in findings if f.fix_pending or (f.fix is not None and f.fix.applicability.rank <= limit.rank)]


async def _offered(
    asked: Asked, title: str, kind: str, codes: list[str] | None, findings: Sequence[Finding]
) -> list[types.CodeAction]:
    action = types.CodeAction(title, kind=kind, data={"uri": asked.document.uri, "codes": codes})
    if findings:
        action.diagnostics = asked.shown(findings)
    if not asked.resolves:
        await resolve(asked.server, action)
        action.data = None
        return [action] if action.edit is not None else []
    return [action]


async def resolve(server: Server, action: types.CodeAction) -> None:
    """Work out the edit of such an action, for the document as it is now; there is none if nothing can be fixed."""
    given = action.data
    if action.edit is not None or not isinstance(given, dict) or not isinstance(given.get("uri"), str):
        return
    document, codes = server.session.document(given["uri"]), given.get("codes")
    if document is None or not (codes is None or isinstance(codes, list)):
        return
    edits = await fixed(server, [document], None if codes is None else frozenset(map(str, codes)))
    if action.kind == FIX_ALL:  # all cells are asked, and each is to change itself
        edits = {changed: wanted for changed, wanted in edits.items() if changed == document}
    if edits:
        action.edit = workspace_edit(edits, server.session.client)
