"""Turns findings into LSP diagnostics."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import attrs
from cattrs import Converter
from lsprotocol import converters, types
from pygls.protocol import default_converter

from exportlint.findings import Caller, Finding, Severity, Span, Step
from exportlint.registry import find_rule
from exportlint.report import shortened
from exportlint.report.context import printable
from exportlint.server import uris
from exportlint.server.analyses import Analysis, Reached
from exportlint.server.client import Client
from exportlint.server.ranges import BOM, range_between, range_of
from exportlint.server.verification.seen import Remark, Ruled
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


class Diagnostics:
    """The diagnostics of one document over its versions. Those of unchanged findings are created and encoded once."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Finding, Ruled | None, types.Diagnostic]] = {}
        self._shown_to: object = None
        """What else the diagnostics depend on. Positions do not count: a finding that moved is a new object."""

    def of(self, analysis: Analysis, client: Client, opened: Mapping[str, str]) -> list[types.Diagnostic]:
        """What to show of the document. `opened` are the URIs of open documents by filename."""
        has_bom = analysis.document.text.startswith(BOM)
        shown_to = client, dict(opened), frozenset(analysis.outcome.sources), has_bom
        before = self._made if self._shown_to == shown_to else {}
        self._made, self._shown_to = {}, shown_to
        found: list[types.Diagnostic] = []
        for finding in analysis.findings:
            known, ruled = before.get(id(finding)), analysis.seen.of(finding)
            if known is None or known[1] != ruled:
                known = finding, ruled, _Kept.of(diagnostic(finding, analysis, client, opened))
            self._made[id(finding)] = known
            found.append(known[2])
        return [*found, *_more(analysis, client, opened)]


class _Kept(types.Diagnostic):
    """A diagnostic whose encoded form is cached, because it is sent repeatedly."""

    encoded: object = None

    @staticmethod
    def of(one: types.Diagnostic) -> _Kept:
        return _Kept(**{name: getattr(one, name) for name in _FIELDS})


_FIELDS = tuple(field.name for field in attrs.fields(types.Diagnostic))


def converter() -> Converter:
    """A converter of messages to JSON that encodes each cached diagnostic once."""
    made: Converter = default_converter()  # type: ignore[no-untyped-call]
    encode = made.get_unstructure_hook(types.Diagnostic)

    def encoded(one: types.Diagnostic) -> object:
        if not isinstance(one, _Kept):
            return encode(one)
        if one.encoded is None:
            one.encoded = encode(one)
        return one.encoded

    made.register_unstructure_hook(types.Diagnostic, encoded)
    return made


def diagnostics(analysis: Analysis, client: Client, opened: Mapping[str, str]) -> list[types.Diagnostic]:
    """What to show of a document. `opened` are the URIs of open documents by filename."""
    found = [diagnostic(finding, analysis, client, opened) for finding in analysis.findings]
    return [*found, *_more(analysis, client, opened)]


def _more(analysis: Analysis, client: Client, opened: Mapping[str, str]) -> Iterator[types.Diagnostic]:
    """The diagnostics besides those of findings: calls with findings behind them, and results of verification."""
    yield from _calls(analysis, client, opened)
    yield from (remark_diagnostic(remark, analysis, client) for remark in analysis.seen.remarks)


def diagnostic(
    finding: Finding, analysis: Analysis, client: Client, opened: Mapping[str, str] | None = None
) -> types.Diagnostic:
    """The diagnostic of one finding, with the fields that the client supports."""
    lines = analysis.document.lines
    rule = find_rule(finding.code)
    ruled = analysis.seen.of(finding)
    accepted = "accepted: it is in the baseline" if finding.baselined else ""
    parts = [finding.message, finding.help and f"help: {finding.help}", ruled and str(ruled), accepted]
    shown = types.Diagnostic(
        range=range_of(finding.span, lines, client.encoding),
        message="\n".join(printable(part) for part in parts if part),
        severity=types.DiagnosticSeverity.Hint if finding.baselined else _SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        data={"name": finding.name},
    )
    if client.code_description and rule is not None:
        shown.code_description = types.CodeDescription(rule.url)
    if client.tags and finding.name in _TAGS:
        shown.tags = [_TAGS[finding.name]]
    if client.related_information and finding.trail:
        shown.related_information = list(_related(finding, analysis, client, opened or {}))
    return shown


def _calls(analysis: Analysis, client: Client, opened: Mapping[str, str]) -> Iterator[types.Diagnostic]:
    """One diagnostic for each call through which a class reaches errors and warnings outside of it."""
    for span, reached in calls(analysis).items():
        callee = next(one.caller.callee for one in reached)
        yield _call(callee, range_of(span, analysis.document.lines, client.encoding), reached, analysis, client, opened)


def calls(analysis: Analysis) -> dict[Span, list[Reached]]:
    """The findings that the calls of a document lead to, by the span of the call; the most severe first."""
    found: dict[Span, list[Reached]] = {}
    for one in analysis.reached:
        if one.finding.severity is not Severity.INFO and one.caller.callee and not one.finding.baselined:
            found.setdefault(one.caller.span, []).append(one)
    for reached in found.values():
        # Several classes, of which one is around the other, may share a call.
        reached[:] = {one.finding: one for one in reached}.values()
        reached.sort(key=lambda one: one.finding.severity.rank)
    return dict(sorted(found.items()))


def _call(
    callee: str,
    place: types.Range,
    reached: Sequence[Reached],
    analysis: Analysis,
    client: Client,
    opened: Mapping[str, str],
) -> types.Diagnostic:
    finding = reached[0].finding
    rule = find_rule(finding.code)
    more = f" (and {len(reached) - 1} more)" if len(reached) > 1 else ""
    shown = types.Diagnostic(
        range=place,
        message=call_message(callee, finding) + more,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        data={"name": finding.name},
    )
    if client.code_description and rule is not None:
        shown.code_description = types.CodeDescription(rule.url)
    if client.related_information:
        places = [(one.finding, location(one.finding, analysis, client, opened)) for one in reached]
        shown.related_information = [
            types.DiagnosticRelatedInformation(where, one.message) for one, where in places if where is not None
        ]
    return shown


def call_message(callee: str, finding: Finding) -> str:
    """The message for a call that leads to a finding."""
    does = "breaks export" if finding.severity is Severity.ERROR else "has an export warning"
    return f"`{callee}` {does}: {finding.message}"


def remark_diagnostic(remark: Remark, analysis: Analysis, client: Client) -> types.Diagnostic:
    """The diagnostic of a result of verification. Its message starts with `stale:` if the text has changed since."""
    lines = analysis.document.lines
    line = lines.line(remark.row)
    start = lines.line_start(remark.row) + len(line) - len(line.lstrip())
    parts = [f"stale: {remark.message}" if remark.stale else remark.message, remark.help and f"help: {remark.help}"]
    shown = types.Diagnostic(
        range=range_between(start, start + len(line.strip()), lines, client.encoding),
        message="\n".join(printable(part) for part in parts if part),
        severity=types.DiagnosticSeverity.Information if remark.stale else _SEVERITIES[remark.severity],
        code=remark.verdict,
        source=VERIFY_SOURCE,
    )
    if client.related_information and remark.elsewhere is not None:
        file, row = remark.elsewhere
        place = types.Range(types.Position(row - 1, 0), types.Position(row, 0))
        uri = uris.from_path(Path(file))
        shown.related_information = [types.DiagnosticRelatedInformation(types.Location(uri, place), "it raises here")]
    return shown


def _related(
    finding: Finding, analysis: Analysis, client: Client, opened: Mapping[str, str]
) -> Sequence[types.DiagnosticRelatedInformation]:
    return [
        types.DiagnosticRelatedInformation(place, printable(step.message))
        for step in shortened(finding.trail)
        if (place := location(step, analysis, client, opened)) is not None
    ]


def location(
    place: Finding | Step | Caller, analysis: Analysis, client: Client, opened: Mapping[str, str]
) -> types.Location | None:
    """The LSP location of a finding, step or caller, perhaps in another file; None if the place no longer exists."""
    found = _document(place, analysis, opened)
    return None if found is None else types.Location(found[0], range_of(place.span, found[1], client.encoding))


def _document(
    place: Finding | Step | Caller, analysis: Analysis, opened: Mapping[str, str]
) -> tuple[str, LineIndex] | None:
    cell = analysis.cell(place.filename, place.cell)
    if cell is not None:
        return cell.uri, cell.lines
    source = analysis.outcome.sources.get(place.filename)
    uri = opened.get(place.filename) or uris.from_path(Path(place.filename))
    return None if source is None else (uri, source.lines)


@cache
def plain_converter() -> Converter:
    """A converter between LSP types and JSON for use without a connection. Creating it is slow."""
    return converters.get_converter()


def digest(shown: Sequence[types.Diagnostic]) -> str:
    """A digest of a list of diagnostics; different lists have different digests."""
    text = json.dumps(plain_converter().unstructure(list(shown)), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
