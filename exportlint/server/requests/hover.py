"""`textDocument/hover`: what is found at a place and why it matters, and the rule that a comment names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from exportlint.findings import Finding
from exportlint.registry import Rule, all_rules, find_rule
from exportlint.report.context import printable
from exportlint.server.actions.fix import titled
from exportlint.server.analyses import Analysis
from exportlint.server.client import Client
from exportlint.server.diagnostics import call_message, calls
from exportlint.server.pages import summary
from exportlint.server.pragmas import is_in, selector_at
from exportlint.server.ranges import offset_of, range_of
from exportlint.server.server import Server
from exportlint.server.verification.seen import Ruled

METHOD = types.TEXT_DOCUMENT_HOVER

_RULE = "\n\n---\n\n"


def options(client: Client) -> types.HoverOptions:
    """Nothing to choose."""
    return types.HoverOptions()


async def handle(server: Server, params: types.HoverParams) -> types.Hover | None:
    """What is known of a place: nothing, where nothing is found and no comment names a rule."""
    document = server.session.document(params.text_document.uri)
    if document is None or not document.is_python or not server.session.folder(document).preferences.enable:
        return None
    client = server.session.client
    offset = offset_of(params.position, document.lines, client.encoding)
    selector = selector_at(document.lines, offset)
    if selector is not None:
        rules = [rule for rule in all_rules() if rule.code in selector.codes]
        text = _of_rule(rules[0], client) if len(rules) == 1 else _list(selector.text, rules)
        return types.Hover(_content(text, client), range_of(selector.span, document.lines, client.encoding))
    analysis = await server.analysis(document.uri)
    if analysis is None or analysis.document != document:
        return None
    if any(finding.fix_pending for finding in _at(analysis, offset)):
        analysis = await server.with_fixes(analysis)
    found = {finding.span: _of_finding(finding, analysis, client) for finding in _at(analysis, offset)}
    for span, reached in calls(analysis).items():
        if is_in(span, document.lines, offset):
            one = reached[0]
            found[span] = _said(one.finding, call_message(one.caller.callee, one.finding), client)
    if not found:
        return None
    innermost = max(found, key=lambda span: span.start)
    text = _RULE.join(dict.fromkeys(found.values()))
    return types.Hover(_content(text, client), range_of(innermost, document.lines, client.encoding))


def _at(analysis: Analysis, offset: int) -> Iterator[Finding]:
    return (finding for finding in analysis.findings if is_in(finding.span, analysis.document.lines, offset))


def _of_finding(finding: Finding, analysis: Analysis, client: Client) -> str:
    ruled = analysis.seen.of(finding)
    parts = [_said(finding, finding.message, client)]
    if ruled is not None:
        parts.insert(0, _ruled(ruled))
    if finding.fix is not None:
        parts.append(f"Fix: {titled(finding.fix)}")
    elif finding.help:
        parts.append(f"Help: {finding.help}")
    return "\n\n".join(parts)


def _said(finding: Finding, message: str, client: Client) -> str:
    rule = find_rule(finding.code)
    if rule is None:
        return message
    why = summary(rule).why
    return "\n\n".join(part for part in (f"{_title(rule, client)}: {message}", why) if part)


def _of_rule(rule: Rule, client: Client) -> str:
    about = summary(rule)
    return "\n\n".join(part for part in (_title(rule, client), about.what, about.why) if part)


def _title(rule: Rule, client: Client) -> str:
    name = f"{rule.name} ({rule.code})"
    return f"[{name}]({rule.url})" if client.markdown else f"{name}, {rule.url}"


def _ruled(ruled: Ruled) -> str:
    return f"**{ruled.ruling}** by {_plain(ruled.by)}: {_plain(ruled.why)}"


def _plain(text: str) -> str:
    """What a model may have written, without links, images and tags; code in backquotes stays code."""
    return re.sub(r"(`[^`]*`)|([\\<\[\]!])", lambda found: found[1] or f"\\{found[2]}", printable(text))


def _list(name: str, rules: list[Rule]) -> str:
    return "\n".join([f"`{name}`:", "", *(f"- [{rule.code}]({rule.url}) {rule.name}" for rule in rules)])


def _content(text: str, client: Client) -> types.MarkupContent:
    if client.markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.MarkupContent(types.MarkupKind.PlainText, text)
