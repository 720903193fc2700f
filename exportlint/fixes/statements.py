"""Edits of whole statements, in blocks of any shape: on lines of their own, behind a colon, between semicolons."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from exportlint.fixes.tree import Tree
from exportlint.source import SourceFile

_NEWLINE = re.compile(r"\r\n?|\n")


class Verbatim(str):
    """Source whose lines are indented already."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Draft:
    r"""`text` instead of what stands between two offsets of the file. Its lines end with `\n`, whatever the file's."""

    start: int
    end: int
    text: str


class Statements:
    """The statements of one file, and the ways to change them.

    New code is given as lines without the indentation of their block, those of inner blocks with what they have more.
    What follows the first line of an item stays as it is, so the source of a node of several lines can be an item.
    """

    def __init__(self, source: SourceFile, tree: Tree) -> None:
        self._source = source
        self._tree = tree

    @cached_property
    def newline(self) -> str:
        """The first line end of the file."""
        found = _NEWLINE.search(self._source.text)
        return found.group() if found else "\n"

    @cached_property
    def unit(self) -> str:
        """One level of indentation: that of the first block on lines of its own."""
        for node in ast.walk(self._tree.root):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and self._owns_line(self._start(body[0])):
                inner, outer = self._line_indent(body[0]), self._line_indent(node)
                if len(inner) > len(outer) and inner.startswith(outer):
                    return inner[len(outer) :]
        return "    "

    def range(self, node: ast.AST) -> tuple[int, int]:
        """The offsets between which a node stands, with its decorators."""
        lines = self._source.lines
        end = lines.from_ast(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return self._start(node), lines.offset(end)

    def text(self, node: ast.AST) -> str:
        r"""The source of a node; its lines end with `\n`."""
        start, end = self.range(node)
        return _NEWLINE.sub("\n", self._source.text[start:end])

    def indent(self, statement: ast.stmt) -> str:
        """The indentation of the block that a statement is in, as it is or as it would be on lines of its own."""
        if self._owns_line(self._start(statement)):
            return self._line_indent(statement)
        first = self._tree.block(statement)[0]
        if self._owns_line(self._start(first)):
            return self._line_indent(first)
        parent = self._tree.parents[statement]
        while not hasattr(parent, "lineno"):  # match_case
            parent = self._tree.parents[parent]
        return self._line_indent(parent) + self.unit

    def replace(self, statements: Sequence[ast.stmt], new: Sequence[str]) -> Draft:
        """Other code instead of statements that follow each other in one block; none leaves them out."""
        block = self._tree.block(statements[0])
        first, last = block.index(statements[0]), block.index(statements[-1])
        if not new and len(statements) == len(block):
            new = ["pass"]
        from_, to = self._group(block, first, last)
        indent = self.indent(statements[0])
        items = [*map(self.text, block[from_:first]), *new, *map(self.text, block[last + 1 : to + 1])]
        start, end = self._start(block[from_]), self.range(block[to])[1]
        if not items:
            return self._without_lines(start, end)
        lead = ""
        if not self._owns_line(start):  # behind a colon
            start = len(self._source.text[:start].rstrip(" \t"))
            lead = "\n" + indent
        return Draft(start, end, lead + self.joined(items, indent).removeprefix(indent))

    def insert_before(self, statement: ast.stmt, new: Sequence[str]) -> Draft:
        """More code in front of a statement."""
        if not self._stands_alone(statement):
            return self.replace([statement], [*new, self.text(statement)])
        start, indent = self._start(statement), self.indent(statement)
        return Draft(start, start, self.joined(new, indent).removeprefix(indent) + "\n" + indent)

    def insert_after(self, statement: ast.stmt, new: Sequence[str]) -> Draft:
        """More code behind a statement and the comment at the end of its line."""
        if not self._stands_alone(statement):
            return self.replace([statement], [self.text(statement), *new])
        end = self._source.lines.line_end(statement.end_lineno or statement.lineno)
        return Draft(end, end, "\n" + self.joined(new, self.indent(statement)))

    def wrap(self, statements: Sequence[ast.stmt], header: str) -> Draft:
        """Statements that follow each other in one block, in a block of their own: under `with …:`, `if …:`."""
        body = self.moved(statements, self.indent(statements[0]) + self.unit)
        draft = self.replace(statements, [header, body])
        if not all(self._stands_alone(s) for s in statements):
            return draft
        last = statements[-1]
        return Draft(draft.start, self._source.lines.line_end(last.end_lineno or last.lineno), draft.text)

    def without_decorator(self, decorator: ast.expr) -> Draft:
        """Leaves out a decorator, with its line."""
        lines = self._source.lines
        start = self._source.text.rindex("@", 0, self.range(decorator)[0])
        end = decorator.end_lineno or decorator.lineno
        return Draft(lines.line_start(lines.position(start).row), lines.line_start(end + 1), "")

    def joined(self, items: Sequence[str], indent: str) -> str:
        """Items of code as the lines of a block."""
        return "\n".join(item if isinstance(item, Verbatim) or not item else indent + item for item in items)

    def moved(self, statements: Sequence[ast.stmt], indent: str) -> Verbatim:
        """The source of statements that follow each other, with their comments, in a block of another indentation.

        libcst does it, which knows which lines belong to strings and brackets.
        """
        import libcst

        lines = self._source.lines
        if not all(self._stands_alone(s) for s in statements):
            return Verbatim(self.joined([self.text(s) for s in statements], indent))
        start = lines.line_start(lines.position(self._start(statements[0])).row)
        end = lines.line_end(statements[-1].end_lineno or statements[-1].lineno)
        code = _NEWLINE.sub("\n", self._source.text[start:end])
        own = self._line_indent(statements[0])
        parsed = libcst.parse_module(f"if 1:\n{code}\n" if own else code + "\n")
        body = parsed.body
        if own:
            block = libcst.ensure_type(libcst.ensure_type(body[0], libcst.If).body, libcst.IndentedBlock)
            body = block.body  # type: ignore[assignment]
        if not indent:
            return Verbatim(libcst.Module(body).code.rstrip("\n"))
        wrapped = libcst.If(libcst.Name("x"), libcst.IndentedBlock(body, indent=indent))
        return Verbatim(libcst.Module([wrapped]).code.partition("\n")[2].rstrip("\n"))

    # --- the shape of blocks

    def _start(self, node: ast.AST) -> int:
        first = min((node, *getattr(node, "decorator_list", ())), key=lambda n: (n.lineno, n.col_offset))
        lines = self._source.lines
        offset = lines.offset(lines.from_ast(first.lineno, first.col_offset))
        return self._source.text.rindex("@", 0, offset) if first is not node else offset

    def _owns_line(self, offset: int) -> bool:
        """Whether nothing but blanks stands in front of an offset in its line."""
        lines = self._source.lines
        return not self._source.text[lines.line_start(lines.position(offset).row) : offset].strip()

    def _line_indent(self, node: ast.AST) -> str:
        line = self._source.lines.line(node.lineno)  # type: ignore[attr-defined]
        return line[: len(line) - len(line.lstrip())]

    def _stands_alone(self, statement: ast.stmt) -> bool:
        block = self._tree.block(statement)
        index = block.index(statement)
        return self._group(block, index, index) == (index, index) and self._owns_line(self._start(statement))

    def _group(self, block: Sequence[ast.stmt], first: int, last: int) -> tuple[int, int]:
        """The statements that share lines with those between two indices of a block, as indices of it."""
        while first and not self._owns_line(self._start(block[first])):
            first -= 1
        while last + 1 < len(block) and block[last + 1].lineno == block[last].end_lineno:
            last += 1
        return first, last

    def _without_lines(self, start: int, end: int) -> Draft:
        """Leaves statements out, and their lines if nothing else stands there; a comment behind them stays."""
        lines, text = self._source.lines, self._source.text
        first, last = lines.position(start).row, lines.position(end).row
        stop = lines.line_end(last)
        rest = text[end:stop].lstrip(" \t;")
        if rest:
            return Draft(start, stop - len(rest), "")
        return Draft(lines.line_start(first), lines.line_start(last + 1) if last < len(lines) else stop, "")
