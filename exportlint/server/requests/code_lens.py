"""`textDocument/codeLens`: above each module what is found in it, and in what it calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lsprotocol import types

from exportlint.findings import Finding, Severity
from exportlint.server.analyses import Analysis
from exportlint.server.client import Client
from exportlint.server.commands import add_verify_target, cancel_verification, show_findings, verify_module
from exportlint.server.diagnostics import location
from exportlint.server.documents import Document
from exportlint.server.ranges import range_of
from exportlint.server.server import Server
from exportlint.workspace import ClassSite

METHOD = types.TEXT_DOCUMENT_CODE_LENS

_NOT_IN_MODULES = ("EXP0", "EXP8")
"""The families about the linter itself and about who calls export, which are not found in what is exported."""


def options(client: Client) -> types.CodeLensOptions:
    """All that there is to a lens comes with it."""
    return types.CodeLensOptions(resolve_provider=False)


async def handle(server: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
    """A lens above each class in which something is found, which lists it, and one above each model to verify it."""
    document = server.session.document(params.text_document.uri)
    if document is None or not server.session.folder(document).preferences.code_lens:
        return []
    analysis = await server.analysis(document.uri)
    if analysis is None or analysis.document != server.session.document(document.uri):
        return []
    found: dict[ClassSite, list[Finding]] = {}
    for finding in analysis.findings:
        holders = [site for site in analysis.classes if site.holds(finding.span)]
        if holders and not finding.code.startswith(_NOT_IN_MODULES):
            found.setdefault(holders[-1], []).append(finding)
    for site in analysis.classes:
        outside = [one.finding for one in analysis.reached if one.caller.definition == site.whole]
        if outside:
            found.setdefault(site, []).extend(dict.fromkeys(outside))
    lenses = [_lens(site, findings, analysis, server) for site, findings in found.items()]
    if server.session.folder(document).preferences.verify and isinstance(analysis.outcome.opened, Document):
        lenses += [lens for site in analysis.classes if site.is_model for lens in _verify(site, server, analysis)]
    return lenses


def _verify(site: ClassSite, server: Server, analysis: Analysis) -> list[types.CodeLens]:
    """What verifying a model gave, or else that it can be verified; to do it, again, or to end it while it is done.

    A model that needs a target has a lens to add one.
    """
    document, row = analysis.document, site.header.start.row
    place = range_of(site.header, document.lines, server.session.client.encoding)
    if server.verifier.is_running(document.uri, site.name):
        title = "Verifying export… (click to cancel)"
        return [types.CodeLens(place, types.Command(title, cancel_verification.NAME, arguments=[document.uri]))]
    arguments = [document.uri, site.name]
    title = analysis.seen.titles.get(row, "Verify export")
    lenses = [types.CodeLens(place, types.Command(title, verify_module.NAME, arguments=arguments))]
    if analysis.seen.needs_target(row):
        add = types.Command("Add verify target", add_verify_target.NAME, arguments=arguments)
        lenses.append(types.CodeLens(place, add))
    return lenses


def _lens(site: ClassSite, findings: Sequence[Finding], analysis: Analysis, server: Server) -> types.CodeLens:
    document, client, opened = analysis.document, server.session.client, server.session.uris
    place = range_of(site.header, document.lines, client.encoding)
    places = [location(finding, analysis, client, opened) for finding in findings]
    locations = [place for place in places if place is not None]
    return types.CodeLens(
        place, types.Command(_title(findings), show_findings.NAME, arguments=[document.uri, place.start, locations])
    )


def _title(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity for finding in findings)
    words = [
        f"{counts[severity]} {severity.value}{'s' if counts[severity] > 1 and severity is not Severity.INFO else ''}"
        for severity in Severity
        if counts[severity]
    ]
    return f"export: {', '.join(words)}"
