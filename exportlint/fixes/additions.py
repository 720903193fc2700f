"""Small edits beside what stands there: an item more, a suffix, a base; brackets of another kind."""

from __future__ import annotations

import ast

from exportlint.fixes.code import Code
from exportlint.fixes.drafts import Draft
from exportlint.fixes.precedence import Precedence, precedence


def with_base(code: Code, node: ast.ClassDef, base: str) -> Draft:
    """A base for a class that has none."""
    head = code.source.following(code.source.range(node)[0])
    token = head
    while token is not None and token.text != ":":
        if token.text == "(":
            return Draft(token.end, token.end, base)
        head, token = token, code.source.following(token.end)
    assert head is not None
    return Draft(head.end, head.end, f"({base})")


def insert_behind(code: Code, node: ast.AST, text: str) -> Draft:
    """Source behind a node and the parentheses around it, such as `, None`."""
    end = code.source.outer(node)[1]
    return Draft(end, end, text)


def with_suffix(code: Code, node: ast.expr, suffix: str) -> Draft:
    """Source right behind an expression that belongs to it, such as `.clone()`."""
    end = code.source.range(node)[1]
    if precedence(node) >= Precedence.ATOM:
        return Draft(end, end, suffix)
    return code.replace(node, f"{code.operand(node, Precedence.ATOM)}{suffix}")
