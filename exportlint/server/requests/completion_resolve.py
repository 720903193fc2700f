"""`completionItem/resolve`: what a rule does, once the user looks at it."""

from __future__ import annotations

from lsprotocol import types

from exportlint.pages import Page
from exportlint.registry import find_rule, page
from exportlint.server.server import Server

METHOD = types.COMPLETION_ITEM_RESOLVE


def handle(server: Server, params: types.CompletionItem) -> types.CompletionItem:
    """The item with a sentence about its rule; one of no rule as it came."""
    code = params.data.get("code") if isinstance(params.data, dict) else None
    rule = find_rule(code) if isinstance(code, str) else None
    if rule is not None and params.documentation is None:
        try:
            params.documentation = Page(rule.page_name, page(rule)).summary
        except FileNotFoundError:
            return params
    return params
