"""Comments that have findings not reported again."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from lsprotocol import types

from exportlint.findings import Edit, Finding
from exportlint.server.actions import QUICK_FIX, Asked
from exportlint.server.edits import text_edits, workspace_edit
from exportlint.server.threads import in_thread
from exportlint.source import SourceError, SourceFile
from exportlint.suppressions.add import OF_THE_LINTER, file_ignore, ignores

REASON = "TODO: say why"
"""Stands for the reason that `require-reason` asks for."""

_CODE: Callable[[Finding], str] = attrgetter("code")
"""What comments call a rule: as the titles of the actions do."""


async def offer(asked: Asked) -> list[types.CodeAction]:
    """For each rule of the findings a comment in their lines, and one for the file."""
    found = [finding for finding in asked.findings if finding.code not in OF_THE_LINTER]
    if not found or not asked.wants(QUICK_FIX) or not asked.preferences.disable_comment:
        return []
    assert asked.analysis is not None
    if asked.analysis.outcome.is_of_before:
        return []  # where statements end cannot be told
    source = asked.analysis.source
    if source is None:
        return []
    # Finding the end of a statement takes a while in a long file.
    return await in_thread(lambda _: [action for code in _codes(found) for action in _actions(asked, source, code)])


def _codes(findings: list[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.code for finding in findings))


def _actions(asked: Asked, source: SourceFile, code: str) -> list[types.CodeAction]:
    found = [finding for finding in asked.findings if finding.code == code]
    assert asked.analysis is not None
    reason = REASON if asked.analysis.outcome.task.settings.require_reason else ""
    try:
        on_lines = ignores(source, found, reason, _CODE)
    except SourceError:
        return []
    in_file = [file_ignore(source, code, reason)]
    return [
        *_refuted(asked, source, code, found),
        _action(asked, f"Ignore {code} on this line", on_lines, found),
        _action(asked, f"Ignore {code} in this file", in_file, found),
    ]


def _refuted(asked: Asked, source: SourceFile, code: str, found: list[Finding]) -> list[types.CodeAction]:
    """The comment that says who refutes the findings, if all of them are."""
    assert asked.analysis is not None
    rulings = [asked.analysis.seen.of(finding) for finding in found]
    refuted = {ruled.by for ruled in rulings if ruled is not None and ruled.ruling == "refuted"}
    if not refuted or not all(ruled is not None and ruled.ruling == "refuted" for ruled in rulings):
        return []
    edits = ignores(source, found, f"refuted by {' and '.join(sorted(refuted))}", _CODE)
    return [_action(asked, f"Ignore {code} on this line: torch.export refutes it", edits, found)]


def _action(asked: Asked, title: str, edits: list[Edit], findings: list[Finding]) -> types.CodeAction:
    client = asked.server.session.client
    return types.CodeAction(
        title,
        kind=QUICK_FIX,
        diagnostics=asked.shown(findings),
        edit=workspace_edit({asked.document: text_edits(edits, asked.document, client)}, client),
    )
