r"""The text that fixes read and edit: where nodes stand in it, their source, and edits of the file it comes from.

This is the only place that computes offsets or slices source. Fixes see `\n` at the end of every line, whatever the
file has. Offsets are into that text; as rows and columns are the same in both texts, edits carry these to the file.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from exportlint.findings import Edit
from exportlint.fixes.edit.drafts import NEWLINE, Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.source import LineIndex, SourceFile

_LAYOUT = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.ERRORTOKEN,
    }
)
TAB = 4
"""How wide a tab is, as Ruff counts."""

_CLOSING = frozenset({")", "]", "}"})
_STRING_STARTS = frozenset({"FSTRING_START", "TSTRING_START"})
_STRING_ENDS = frozenset({"FSTRING_END", "TSTRING_END"})


def width(line: str) -> int:
    """How many columns a line takes."""
    return len(line.expandtabs(TAB))


@dataclass(frozen=True, slots=True)
class Token:
    """A token that is neither layout nor comment, between two offsets."""

    start: int
    end: int
    text: str
    kind: int
    starts_line: bool
    """Whether a logical line starts with it."""

    @property
    def ends_expression(self) -> bool:
        """Whether a bracket behind it calls or subscripts what it ends."""
        if self.kind == tokenize.NAME:
            return not keyword.iskeyword(self.text) or self.text in {"None", "True", "False"}
        return self.text in _CLOSING or self.kind in {tokenize.STRING, tokenize.NUMBER}


class Text:
    r"""The text of a file with `\n` at the end of each line."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        is_plain = "\r" not in source.text
        self.text = source.text if is_plain else NEWLINE.sub("\n", source.text)
        self.lines = source.lines if is_plain else LineIndex(self.text)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._source.path

    @cached_property
    def widest(self) -> int:
        """How wide its widest line is."""
        return max(map(width, self.text.split("\n")))

    def block(self, row: int) -> range:
        """The rows that run as one with `row`: all of them, but a notebook's only cell by cell."""
        return self._source.block(row)

    # --- nodes and their source

    def range(self, node: ast.AST) -> tuple[int, int]:
        """The offsets between which a node stands, with its decorators but without parentheses around it."""
        start = self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        decorators = getattr(node, "decorator_list", ())
        if decorators:
            at = self.previous(self.outer(decorators[0])[0])
            start = at.start if at is not None else start
        return start, self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def outer(self, node: ast.AST) -> tuple[int, int]:
        """The offsets between which a node stands, with the parentheses around it that belong to nothing else."""
        start, end = self.range(node)
        tokens = self.tokens
        before = bisect_left(tokens, start, key=lambda token: token.start) - 1
        behind = bisect_left(tokens, end, key=lambda token: token.start)
        if not self._is_at_tokens(start, end):  # in an f-string
            return start, end
        while before >= 0 and behind < len(tokens) and (tokens[before].text, tokens[behind].text) == ("(", ")"):
            if not tokens[before].starts_line and tokens[before - 1].ends_expression:
                break
            start, end = tokens[before].start, tokens[behind].end
            before, behind = before - 1, behind + 1
        return start, end

    def of(self, node: ast.AST) -> str:
        """The source of a node, without parentheses around it."""
        return self.between(*self.range(node))

    def between(self, start: int, end: int) -> str:
        """The source between two offsets."""
        return self.text[start:end]

    # --- tokens

    @cached_property
    def tokens(self) -> Sequence[Token]:
        """The tokens of the file, in order. Raises DeclinedError if Python's tokenizer refuses it."""
        found: list[Token] = []
        starts_line = True
        depth = opened = 0
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                start, end = self._at(token.start), self._at(token.end)
                # Python 3.12 and later split f-strings. Older ones cannot read a line break within one: it stays whole.
                name = tokenize.tok_name[token.type]
                if name in _STRING_STARTS:
                    depth, opened = depth + 1, opened if depth else start
                elif name in _STRING_ENDS:
                    depth -= 1
                    if not depth:
                        found.append(Token(opened, end, self.text[opened:end], tokenize.STRING, starts_line))
                        starts_line = False
                elif not depth and token.type not in _LAYOUT:
                    found.append(Token(start, end, token.string, token.type, starts_line))
                    starts_line = False
                starts_line |= token.type == tokenize.NEWLINE
        except (tokenize.TokenError, SyntaxError):
            raise DeclinedError("the file cannot be split into tokens") from None
        return found

    def _at(self, position: tuple[int, int]) -> int:
        row, column = position
        return self.lines.line_start(row) + column

    def previous(self, offset: int) -> Token | None:
        """The last token that ends at an offset or before it."""
        at = bisect_right(self.tokens, offset, key=lambda token: token.end)
        return self.tokens[at - 1] if at else None

    def following(self, offset: int) -> Token | None:
        """The first token that starts at an offset or behind it."""
        at = bisect_left(self.tokens, offset, key=lambda token: token.start)
        return self.tokens[at] if at < len(self.tokens) else None

    def _is_at_tokens(self, start: int, end: int) -> bool:
        first, last = self.following(start), self.previous(end)
        return first is not None and last is not None and first.start == start and last.end == end

    def _offset(self, row: int, column: int) -> int:
        return self.lines.offset(self.lines.from_ast(row, column))

    # --- edits

    def edits(self, drafts: Iterable[Draft]) -> tuple[Edit, ...]:
        """Drafts as edits of the file. What they bring has the line ends of the line in which it starts."""
        return tuple(
            Edit(self.lines.span(draft.start, draft.end), draft.text.replace("\n", self.newline(draft.start)))
            for draft in drafts
        )

    def newline(self, offset: int) -> str:
        r"""The line end of the line that an offset is in, else of the one before it, else `\n`."""
        lines = self._source.lines
        row = min(self.lines.position(offset).row, len(lines) - 1)
        if row < 1:
            return "\n"
        return self._source.text[lines.line_end(row) : lines.line_start(row + 1)]
