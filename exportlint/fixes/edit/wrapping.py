"""Lines that a fix made too long, wrapped as Black would: within brackets, or within parentheses that are put there.

`wrapped` gives the edits for the rows that are too wide.
"""

from __future__ import annotations

import tokenize
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from exportlint.fixes.edit.delimiters import CLOSING, OPENING, Delimiter, delimiters, pairs
from exportlint.fixes.edit.drafts import Draft
from exportlint.fixes.edit.text import Text, Token, width

_HEADERS = frozenset({"if", "elif", "while", "for", "with", "def", "class", "async", "match", "case", "except"})
_VALUES = frozenset({"return", "if", "elif", "while", "assert"})
_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", ">>=", "<<=", "**="})
_WORDS = frozenset({("for", "in"), ("from", "import")})
_PRAGMAS = ("# noqa", "# type:", "# pyright:", "# pylint:", "# exportlint:", "# fmt:")

Item = Token | str


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of tokens, and of what is put in: parentheses, a comma."""

    indent: str
    items: tuple[Item, ...]


def wrapped(text: Text, rows: Sequence[int], limit: int, unit: str) -> Iterator[Draft]:
    """Edits that leave none of some rows wider than a limit, where they can be broken.

    They put in nothing but blanks and line ends, parentheses around values and commas behind last items. `unit` is one
    level of indentation.
    """
    for row in rows:
        if width(text.lines.line(row)) > limit:
            yield from _Row(text, row, limit, unit).drafts()


class _Row:
    """One line of a text."""

    def __init__(self, text: Text, row: int, limit: int, unit: str) -> None:
        self._text = text
        self._limit = limit
        self._unit = unit
        line, (start, self._end) = text.lines.line(row), (text.lines.line_start(row), text.lines.line_end(row))
        tokens = text.tokens
        first = bisect_left(tokens, start, key=lambda token: token.start)
        last = bisect_left(tokens, self._end, key=lambda token: token.start)
        self._tokens = tuple(tokens[first:last])
        self._indent = line[: len(line) - len(line.lstrip())]
        is_cut = first < last and (tokens[last - 1].end > self._end or (first and tokens[first - 1].end > start))
        if is_cut or line.endswith("\\"):
            self._tokens = ()
        self._depth = self._depth_at(first) if self._tokens else 0
        self._is_last = last == len(tokens) or tokens[last].starts_line
        self._known: dict[tuple[str, int, int, bool], list[_Line]] = {}
        self._is_closed = last < len(tokens) and tokens[last].text in CLOSING

    def drafts(self) -> Iterator[Draft]:
        """The edits that break the line; none where that makes nothing less wide."""
        if not self._tokens:
            return
        plain = [_Line(self._indent, self._tokens)]
        if self._fits(plain[0]):  # only what a tool reads at its end is too long
            return
        if self._depth:
            is_body = self._is_closed and not any(self._balance(self._tokens))
            lines = self._within(self._indent, self._tokens, is_body)
        else:
            lines = self._statement()
        if self._widest(lines) < self._widest(plain):
            yield from self._edits(lines)

    # --- ways to break lines, of which the first one counts that leaves no line too wide, else the least wide one

    def _statement(self) -> list[_Line]:
        indent, tokens = self._indent, self._tokens
        ways = [self._bracketed(indent, tokens)]
        start, end = self._value()
        if start < end and self._is_last:
            value = tokens[start:end]
            inner = indent + self._unit
            is_tuple = Delimiter.COMMA in delimiters(value).values()
            body = self._delimited(inner, value, True) if is_tuple else self._within(inner, value, True)
            parenthesised = [
                _Line(indent, (*tokens[:start], "(")),
                *body,
                _Line(indent, (")", *tokens[end:])),
            ]
            ways.insert(0 if self._prefers_parentheses(value) else 1, parenthesised)
        return self._best(ways, _Line(indent, tokens))

    def _within(self, indent: str, tokens: Sequence[Token], is_body: bool) -> list[_Line]:
        """A line within brackets. `is_body`: it is all that they hold."""
        if not tokens:
            return self._broken(indent, tokens, is_body)
        key = indent, tokens[0].start, tokens[-1].end, is_body
        if key not in self._known:  # each way around it asks again, so brackets within brackets would double the work
            self._known[key] = self._broken(indent, tokens, is_body)
        return self._known[key]

    def _broken(self, indent: str, tokens: Sequence[Token], is_body: bool) -> list[_Line]:
        plain = _Line(indent, tuple(tokens))
        if self._fits(plain) and not (is_body and self._has_magic_comma(tokens)):
            return [plain]
        ways = (way(indent, tokens, is_body) for way in (self._delimited, self._bracketed))
        return self._best(ways, plain)

    def _delimited(self, indent: str, tokens: Sequence[Token], is_body: bool) -> list[_Line]:
        found = delimiters(tokens)
        if not found:
            return []
        greatest = max(found.values())
        places = [0, *(index for index, kind in sorted(found.items()) if kind is greatest), len(tokens)]
        lines = [line for start, end in pairwise(places) for line in self._within(indent, tokens[start:end], False)]
        if greatest is Delimiter.COMMA and is_body and tokens[-1].text != ",":
            lines[-1] = _Line(lines[-1].indent, (*lines[-1].items, ","))
        return lines

    def _bracketed(self, indent: str, tokens: Sequence[Token], _: bool = False) -> list[_Line]:
        ways = []
        found = list(pairs(tokens))
        is_function = "def" in {token.text for token in tokens[:2]}
        for start, end in found[-1:] if is_function else found:
            head, tail = _Line(indent, tuple(tokens[: start + 1])), _Line(indent, tuple(tokens[end:]))
            ways.append([head, *self._within(indent + self._unit, tokens[start + 1 : end], True), tail])
        return self._best(ways, _Line(indent, tuple(tokens)))

    def _best(self, ways: Iterable[list[_Line]], plain: _Line) -> list[_Line]:
        possible: list[list[_Line]] = []
        for way in ways:
            if way and self._widest(way) <= self._limit:
                return way
            possible += [way] if way else []
        return min([*possible, [plain]], key=self._widest)

    # --- what lines are like

    def _value(self) -> tuple[int, int]:
        """The part of a statement that may stand in parentheses, as indices; nothing if there is none."""
        tokens, depth, start = self._tokens, 0, 0
        first, last = tokens[0].text, len(tokens)
        if any(token.text == ";" for token in tokens):
            return 0, 0
        if first in _HEADERS:
            if tokens[-1].text != ":":
                return 0, 0
            last -= 1
        if first in _VALUES:
            start = 1
        for index, token in enumerate(tokens[:last]):
            depth += (token.text in OPENING) - (token.text in CLOSING) if token.kind == tokenize.OP else 0
            if depth:
                continue
            if token.text == "lambda" or (first == "assert" and token.text == ","):
                start = start if token.text == "lambda" else index + 1
                break
            is_assignment = token.kind == tokenize.OP and token.text in _ASSIGNMENTS and first not in _HEADERS
            if is_assignment or (first, token.text) in _WORDS:
                start = index + 1
        return (start, last) if start else (0, 0)

    def _prefers_parentheses(self, value: Sequence[Token]) -> bool:
        """Whether Black puts a value in parentheses rather than break it in its last brackets."""
        found = list(delimiters(value).values())
        brackets = next(pairs(value), None)
        if brackets is None or brackets[1] != len(value) - 1:
            return True
        return bool(found) and (found.count(max(found)) > 1 or max(found) in {Delimiter.COMMA, Delimiter.CALL})

    def _has_magic_comma(self, tokens: Sequence[Token]) -> bool:
        return tokens[-1].text == "," and list(delimiters(tokens).values()).count(Delimiter.COMMA) > 0

    def _depth_at(self, index: int) -> int:
        """How many brackets are open in front of a token."""
        depth = 0
        while not self._text.tokens[index].starts_line:
            index -= 1
            token = self._text.tokens[index]
            depth += (token.text in OPENING) - (token.text in CLOSING) if token.kind == tokenize.OP else 0
        return depth

    def _balance(self, tokens: Sequence[Token]) -> tuple[int, int]:
        """How many brackets are closed that were opened before, and opened that are closed behind."""
        closed = opened = 0
        for token in tokens:
            if token.kind == tokenize.OP and token.text in OPENING:
                opened += 1
            elif token.kind == tokenize.OP and token.text in CLOSING:
                closed, opened = (closed, opened - 1) if opened else (closed + 1, 0)
        return closed, opened

    def _fits(self, line: _Line) -> bool:
        return self._widest([line]) <= self._limit

    def _widest(self, lines: Sequence[_Line]) -> int:
        return max(width(line.indent + self._source(line)) for line in lines)

    def _source(self, line: _Line) -> str:
        pieces: list[str] = []
        before: Item = ""
        for item in line.items:
            if isinstance(before, Token) and isinstance(item, Token):
                pieces.append(self._text.between(before.end, item.start))
            elif isinstance(item, str) and item == "(" and isinstance(before, Token):
                pieces.append(" ")
            pieces.append(item.text if isinstance(item, Token) else item)
            before = item
        if before is self._tokens[-1]:
            comment = self._text.between(self._tokens[-1].end, self._end)
            pieces.append("" if comment.strip().startswith(_PRAGMAS) else comment)
        return "".join(pieces)

    def _edits(self, lines: Sequence[_Line]) -> Iterator[Draft]:
        """What has to be put between tokens, and behind the last one."""
        last: Token | None = None
        pending, is_new = "", False
        for index, line in enumerate(lines):
            if index:
                pending, is_new = f"{pending}\n{line.indent}", True
            for item in line.items:
                if isinstance(item, str):
                    is_new = True
                    pending += f" {item}" if item == "(" and isinstance(last, Token) and not pending else item
                    continue
                if last is not None and is_new:
                    yield Draft(last.end, item.start, pending)
                last, pending, is_new = item, "", False
        if pending and last is not None:
            yield Draft(last.end, last.end, pending)
