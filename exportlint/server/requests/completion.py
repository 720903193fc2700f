"""`textDocument/completion`: the rules inside of a comment that names rules, and what such a comment may say."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

from lsprotocol import types

from exportlint.registry import Rule, all_rules
from exportlint.server.client import Client
from exportlint.server.documents import Document
from exportlint.server.pragmas import comment_at
from exportlint.server.ranges import offset_of, range_between
from exportlint.server.server import Server
from exportlint.source import Comment
from exportlint.suppressions.pragmas import VERBS

METHOD = types.TEXT_DOCUMENT_COMPLETION

_ENTRY = re.compile(r"#\s*exportlint\s*:\s*(?P<verb>[\w-]+)\[(?P<before>[^\]]*,)?\s*(?P<typed>[\w-]*)$")
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<before>(?:[A-Z]+[0-9]+[\s,]+)*)(?P<typed>\w*)$", re.IGNORECASE)
_VERB = re.compile(r"#\s*exportlint\s*:\s*(?P<typed>[\w-]*)$")
_REST = re.compile(r"[\w-]*")
_PATIENCE = 0.5
"""Seconds to wait for what is found, which only decides what comes first."""


def options(client: Client) -> types.CompletionOptions:
    """A list begins at `[` or `:`, its next entry after a comma or a blank."""
    return types.CompletionOptions(trigger_characters=["[", ",", ":", " "], resolve_provider=True)


async def handle(server: Server, params: types.CompletionParams) -> types.CompletionList | None:
    """What can stand there; nothing outside of such comments."""
    document = server.session.document(params.text_document.uri)
    if document is None or not document.is_python or not server.session.folder(document).preferences.enable:
        return None
    lines, encoding = document.lines, server.session.client.encoding
    offset = offset_of(params.position, lines, encoding)
    before = document.text[lines.line_start(lines.position(offset).row) : offset]
    match = next((match for form in (_ENTRY, _NOQA, _VERB) if (match := form.search(before))), None)
    comment = comment_at(lines, offset) if match is not None else None
    if match is None or comment is None:
        return None
    rest = _REST.match(document.text, offset)
    assert rest is not None
    place = range_between(offset - len(match["typed"]), rest.end(), lines, encoding)
    if match.re is _VERB:
        items = [_item(verb, types.CompletionItemKind.Keyword, place, str(at)) for at, verb in enumerate(VERBS)]
        return types.CompletionList(False, items)
    verb = "noqa" if match.re is _NOQA else match["verb"]
    listed = set(re.findall(r"[\w-]+", (match["before"] or "").upper()))
    found = await _found(server, document, comment, verb)
    rules = [rule for rule in all_rules() if not {rule.code, rule.name.upper()} & listed]
    return types.CompletionList(
        False, [item for rule in rules for item in _items(rule, verb, place, rule.code in found)]
    )


async def _found(server: Server, document: Document, comment: Comment, verb: str) -> set[str]:
    """The codes of what is found where the comment would have an effect."""
    try:
        analysis = await asyncio.wait_for(server.analysis(document.uri), _PATIENCE)
    except asyncio.TimeoutError:
        return set()
    if analysis is None:
        return set()
    # Also what the comment suppresses, half typed as it is.
    rows = range(comment.logical_start_row, comment.logical_end_row + 1)
    everywhere = verb not in ("ignore", "noqa")
    return {f.code for f in analysis.unsuppressed if everywhere or f.span.start.row in rows}


def _items(rule: Rule, verb: str, place: types.Range, is_found: bool) -> Iterator[types.CompletionItem]:
    kind, first = types.CompletionItemKind.EnumMember, "0" if is_found else "1"
    yield _item(rule.code, kind, place, f"{first} {rule.code} 0", rule.name, rule)
    if verb != "noqa":
        yield _item(rule.name, kind, place, f"{first} {rule.code} 1", rule.code, rule)


def _item(
    label: str,
    kind: types.CompletionItemKind,
    place: types.Range,
    sort: str,
    detail: str | None = None,
    rule: Rule | None = None,
) -> types.CompletionItem:
    item = types.CompletionItem(label, kind=kind, detail=detail, sort_text=sort, text_edit=types.TextEdit(place, label))
    if rule is not None:
        item.data = {"code": rule.code}
    return item
