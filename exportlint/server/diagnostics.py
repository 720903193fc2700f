"""Findings as the diagnostics of the Language Server Protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsprotocol import converters, types

from exportlint.findings import Finding, Severity, Step
from exportlint.registry import find_rule
from exportlint.report.context import printable
from exportlint.server import uris
from exportlint.server.analyses import Analysis
from exportlint.server.client import Client
from exportlint.server.ranges import range_between, range_of
from exportlint.server.verification.seen import Remark
from exportlint.source import LineIndex

SOURCE = "exportlint"
VERIFY_SOURCE = "exportlint-verify"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_TAGS = {
    "unused-suppression": types.DiagnosticTag.Unnecessary,
    "deprecated-export-api": types.DiagnosticTag.Deprecated,
}


def diagnostics(analysis: Analysis, client: Client, opened: Mapping[str, str]) -> list[types.Diagnostic]:
    """What to show of a document. `opened` are the URIs of open documents by filename."""
    found = [diagnostic(finding, analysis, client, opened) for finding in analysis.findings]
    return found + [remark_diagnostic(remark, analysis, client) for remark in analysis.seen.remarks]


def diagnostic(
    finding: Finding, analysis: Analysis, client: Client, opened: Mapping[str, str] | None = None
) -> types.Diagnostic:
    """One finding, as far as the client can show it."""
    lines = analysis.document.lines
    rule = find_rule(finding.code)
    ruled = analysis.seen.of(finding)
    parts = [finding.message, finding.help and f"help: {finding.help}", ruled and str(ruled)]
    shown = types.Diagnostic(
        range=range_of(finding.span, lines, client.encoding),
        message="\n".join(printable(part) for part in parts if part),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        data={"name": finding.name, "fixable": finding.fix is not None},
    )
    if client.code_description and rule is not None:
        shown.code_description = types.CodeDescription(rule.url)
    if client.tags and finding.name in _TAGS:
        shown.tags = [_TAGS[finding.name]]
    if client.related_information and finding.trail:
        shown.related_information = list(_related(finding, analysis, client, opened or {}))
    return shown


def remark_diagnostic(remark: Remark, analysis: Analysis, client: Client) -> types.Diagnostic:
    """What torch.export met, as far as the client can show it; what is about another text is shown as such."""
    lines = analysis.document.lines
    line = lines.line(remark.row)
    start = lines.line_start(remark.row) + len(line) - len(line.lstrip())
    shown = types.Diagnostic(
        range=range_between(start, start + len(line.strip()), lines, client.encoding),
        message=printable(f"stale: {remark.message}" if remark.stale else remark.message),
        severity=types.DiagnosticSeverity.Information if remark.stale else _SEVERITIES[remark.severity],
        code=remark.verdict,
        source=VERIFY_SOURCE,
    )
    if remark.stale and client.tags:
        shown.tags = [types.DiagnosticTag.Unnecessary]
    if client.related_information and remark.elsewhere is not None:
        file, row = remark.elsewhere
        place = types.Range(types.Position(row - 1, 0), types.Position(row, 0))
        uri = uris.from_path(Path(file))
        shown.related_information = [types.DiagnosticRelatedInformation(types.Location(uri, place), "it raises here")]
    return shown


def _related(
    finding: Finding, analysis: Analysis, client: Client, opened: Mapping[str, str]
) -> Sequence[types.DiagnosticRelatedInformation]:
    places = [(step, _located(step, analysis, opened)) for step in finding.trail]
    return [
        types.DiagnosticRelatedInformation(
            types.Location(place[0], range_of(step.span, place[1], client.encoding)), printable(step.message)
        )
        for step, place in places
        if place is not None
    ]


def _located(step: Step, analysis: Analysis, opened: Mapping[str, str]) -> tuple[str, LineIndex] | None:
    """The document that a step is in, and its lines; None if it is gone meanwhile."""
    cell = analysis.cell(step.filename, step.cell)
    if cell is not None:
        return cell.uri, cell.lines
    source = analysis.outcome.sources.get(step.filename)
    uri = opened.get(step.filename) or uris.from_path(Path(step.filename))
    return None if source is None else (uri, source.lines)


_converter = converters.get_converter()


def digest(shown: Sequence[types.Diagnostic]) -> str:
    """A name for a list of diagnostics, which another list has only if it is the same."""
    text = json.dumps(_converter.unstructure(list(shown)), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
