"""Variables under other names: what an arm assigns must not touch what the other one reads."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.shapes import Form
from exportlint.fixes.source_text import Piece, piece


class Names:
    """The names that variables have in new code, and the forms of what was assigned to them."""

    def __init__(
        self, renames: Mapping[str, Piece] | None = None, forms: Mapping[str, Form | None] | None = None
    ) -> None:
        self.renames = dict(renames or {})
        self.forms = dict(forms or {})

    def read_by(self, node: ast.expr) -> frozenset[str]:
        """The variables that an expression reads, by the names that they have now."""
        found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        new = {n for name in found if name in self.renames for n in _identifiers(self.renames[name].text)}
        return frozenset(new | (found - self.renames.keys()))

    def renamed(self, code: Code, node: ast.expr) -> Piece:
        """The source of an expression under the names. Raises DeclinedError if it gives one a meaning of its own."""
        places = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in self.renames]
        if not places:
            return piece(code, node)
        if any(isinstance(part, (ast.JoinedStr, ast.Lambda, ast.comprehension)) for part in ast.walk(node)):
            raise DeclinedError("names have other meanings inside")
        if isinstance(node, ast.Name):
            return self.renames[node.id]
        start, _ = code.statements.range(node)
        source, text, end = code.source.text, "", start
        for place in sorted(places, key=lambda n: (n.lineno, n.col_offset)):
            first, last = code.statements.range(place)
            text += source[end:first] + self.renames[place.id].at(Precedence.ATOM)
            end = last
        text += source[end : code.statements.range(node)[1]]
        text = text.replace("\r\n", "\n")
        whole = piece(code, node)
        return whole if whole.text == text else Piece(f"({text})" if "\n" in text else text, whole.precedence)


def _identifiers(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
