"""Where the cells of a notebook are written in its JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

_BLANKS = re.compile(r"[ \t\n\r]*")


class SourcePlaces:
    """Where the sources of cells are written in valid JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._value = json.JSONDecoder().raw_decode
        self._found: list[tuple[tuple[tuple[int, int], ...], int, int]] = []
        self._members(self._skip(0), {"cells": self._cells})

    def of(self, index: int) -> tuple[tuple[tuple[int, int], ...], int, int]:
        """The places of the strings of a cell's source, and from where to where the source is written."""
        return self._found[index]

    def _cells(self, at: int) -> int:
        self._found.clear()  # of members with the same name the last one counts

        def cell(at: int) -> int:
            self._found.append(((), at, at))
            return self._members(at, {"source": self._source})

        return self._items(at, cell)

    def _source(self, at: int) -> int:
        literals: list[tuple[int, int]] = []

        def literal(at: int) -> int:
            literals.append((at, self._value(self._text, at)[1]))
            return literals[-1][1]

        end = literal(at) if self._text[at] == '"' else self._items(at, literal)
        self._found[-1] = (tuple(literals), at, end)
        return end

    def _members(self, at: int, known: Mapping[str, Callable[[int], int]]) -> int:
        """The end of an object; those of its members that are known are looked at."""
        at = self._skip(at + 1)
        while self._text[at] != "}":
            key, at = self._value(self._text, at)
            at = self._skip(self._skip(at) + 1)
            at = self._after(known[key](at) if key in known else self._value(self._text, at)[1])
        return at + 1

    def _items(self, at: int, item: Callable[[int], int]) -> int:
        """The end of a list, of which each item is looked at."""
        at = self._skip(at + 1)
        while self._text[at] != "]":
            at = self._after(item(at))
        return at + 1

    def _after(self, at: int) -> int:
        at = self._skip(at)
        return self._skip(at + 1) if self._text[at] == "," else at

    def _skip(self, at: int) -> int:
        blanks = _BLANKS.match(self._text, at)
        assert blanks is not None
        return blanks.end()
