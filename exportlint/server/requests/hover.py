"""`textDocument/hover`: the page of a rule, on what it finds and on a comment that names it."""

from __future__ import annotations

import re

from lsprotocol import types

from exportlint.registry import Rule, all_rules, find_rule
from exportlint.report.context import printable
from exportlint.server.client import Client
from exportlint.server.pages import readable
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
    if document is None or not document.is_python:
        return None
    client = server.session.client
    offset = offset_of(params.position, document.lines, client.encoding)
    selector = selector_at(document.lines, offset)
    if selector is not None:
        rules = [rule for rule in all_rules() if rule.code in selector.codes]
        text = _page(rules[0]) if len(rules) == 1 else _list(selector.text, rules)
        return types.Hover(_content(text, client), range_of(selector.span, document.lines, client.encoding))
    analysis = await server.analysis(document.uri)
    if analysis is None or analysis.document != document:
        return None
    findings = [finding for finding in analysis.findings if is_in(finding.span, document.lines, offset)]
    if not findings:
        return None
    # What is found there, editors show themselves.
    found = dict.fromkeys(rule for finding in findings if (rule := find_rule(finding.code)) is not None)
    ruled = dict.fromkeys(_ruled(ruled) for finding in findings if (ruled := analysis.seen.of(finding)) is not None)
    text = _RULE.join([*ruled, *map(_page, found)])
    innermost = max(findings, key=lambda finding: finding.span.start)
    return types.Hover(_content(text, client), range_of(innermost.span, document.lines, client.encoding))


def _ruled(ruled: Ruled) -> str:
    return f"**{ruled.ruling}** by {_plain(ruled.by)}: {_plain(ruled.why)}"


def _plain(text: str) -> str:
    """What a model may have written, without links, images and tags; code in backquotes stays code."""
    return re.sub(r"(`[^`]*`)|([\\<\[\]!])", lambda found: found[1] or f"\\{found[2]}", printable(text))


def _page(rule: Rule) -> str:
    try:
        return readable(rule)
    except FileNotFoundError:  # what is found can be told without it
        return f"[{rule.name} ({rule.code})]({rule.url})"


def _list(name: str, rules: list[Rule]) -> str:
    return "\n".join([f"`{name}`:", "", *(f"- [{rule.code}]({rule.url}) {rule.name}" for rule in rules)])


def _content(text: str, client: Client) -> types.MarkupContent:
    if client.markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.MarkupContent(types.MarkupKind.PlainText, text)
