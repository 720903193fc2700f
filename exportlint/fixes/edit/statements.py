"""Edits of whole statements, in blocks of any shape: on lines of their own, behind a colon, between semicolons.

`Statements` replaces, inserts, moves, wraps and leaves out statements, with the comments that belong to them.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from exportlint.fixes.edit import blocks
from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.drafts import Draft, narrowed
from exportlint.fixes.edit.text import Text
from exportlint.fixes.edit.tree import Tree
from exportlint.fixes.errors import DeclinedError
from exportlint.source import Comment, comments

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Holes, Statement

__all__ = ["Draft", "Statements", "is_docstring"]

_FOR_TOOLS = re.compile(r"#\s*(noqa|type:|pragma|fmt:|exportlint:|pylint:|pyright:|mypy:|ruff:|isort:|nosec)")


class Statements:
    """The statements of one file, and the ways to change them.

    New code is given as libcst's statements.
    """

    def __init__(self, source: Text, tree: Tree) -> None:
        self.source = source
        self.tree = tree

    @cached_property
    def comments(self) -> Sequence[Comment]:
        """All comments of the file."""
        return comments(self.source.text, self.source.lines)

    def lose_comment(self, drafts: Sequence[Draft]) -> bool:
        """Whether a comment is gone after edits."""
        return bool(self._lost(drafts))

    def _lost(self, drafts: Sequence[Draft]) -> Counter[str]:
        """The comments that are gone after edits."""
        replaced = [comment.text for draft in drafts for comment in self._comments_in(draft.start, draft.end)]
        if not replaced:
            return Counter()
        return Counter(replaced) - Counter(comment.text for draft in drafts for comment in comments(draft.text))

    def with_comments(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Edits that put the comments which others lose above the statements that stand in place of theirs.

        Comments for tools are about the line that they stand on.
        """
        drafts = [self._unrepeated(draft) for draft in drafts]
        lost = self._lost(drafts)
        return [self._commented(draft, lost) for draft in drafts] if lost else drafts

    def _unrepeated(self, draft: Draft) -> Draft:
        """An edit without the comment at its end that stands behind it anyway."""
        lines = self.source.lines
        rest = self.source.text[draft.end : lines.line_end(lines.position(draft.end).row)].strip()
        if not rest.startswith("#") or not draft.text.endswith(f"  {rest}"):
            return draft
        return dataclasses.replace(draft, text=draft.text.removesuffix(f"  {rest}"))

    def _commented(self, draft: Draft, lost: Counter[str]) -> Draft:
        """An edit with the comments in its part that are lost, which are taken from the others."""
        if draft.drops or not draft.text.strip() or draft.text[0] == "\n" or not self._begins(draft.start):
            return draft
        kept = []
        for comment in self._comments_in(draft.start, draft.end):
            if lost[comment.text] and not _FOR_TOOLS.match(comment.text):
                lost[comment.text] -= 1
                kept.append(comment.text)
        indent = self._indent_at(draft.start)
        return dataclasses.replace(draft, text="".join(f"{text}\n{indent}" for text in kept) + draft.text)

    def _comments_in(self, start: int, end: int) -> Sequence[Comment]:
        """The comments that begin in a part of the text."""
        first, last = (bisect_left(self.comments, at, key=lambda comment: comment.start_offset) for at in (start, end))
        return self.comments[first:last]

    @cached_property
    def unit(self) -> str:
        """One level of indentation: that of the first block on lines of its own, or of the cases of a `match`."""
        for node in ast.walk(self.tree.root):
            body = getattr(node, "body", None)
            is_block = isinstance(node, ast.stmt) and isinstance(body, list) and self._owns_line(self._start(body[0]))
            first = node.cases[0].pattern if isinstance(node, ast.Match) else body[0] if is_block and body else None
            if first is not None:
                inner, outer = self._line_indent(first), self._line_indent(node)
                if len(inner) > len(outer) and inner.startswith(outer):
                    return inner[len(outer) :]
        return "    "

    def indent(self, statement: ast.stmt) -> str:
        """The indentation of the block that a statement is in, as it is or as it would be on lines of its own."""
        if self.is_elif(statement):
            return self._line_indent(statement) + self.unit
        if self._owns_line(self._start(statement)):
            return self._line_indent(statement)
        first = self.tree.block(statement)[0]
        if self._owns_line(self._start(first)):
            return self._line_indent(first)
        parent = self.tree.parents[statement]
        if isinstance(parent, ast.match_case):  # it has no place of its own
            keyword = self.source.previous(self.source.outer(parent.pattern)[0])
            header = keyword.start if keyword is not None else 0
        elif isinstance(parent, ast.Module):
            raise DeclinedError("the file begins with a backslash")
        else:
            header = self._start(parent)
        return self._indent_at(header) + self.unit

    def replace(self, statements: Sequence[ast.stmt], new: Sequence[Statement]) -> Draft:
        """Other code instead of statements that follow each other in one block; none leaves them out."""
        block = self.tree.block(statements[0])
        first, last = self.tree.index(statements[0]), self.tree.index(statements[-1])
        if not new and len(statements) == len(block):
            new = templates.statements("pass")
        from_, to = self._group(block, first, last)
        indent = self.indent(statements[0])
        items = [*self._alone(block[from_:first]), *new, *self._alone(block[last + 1 : to + 1])]
        start, end = self._start(block[from_]), self.source.range(block[to])[1]
        if not items:
            return self._without_lines(start, end)
        lead = ""
        if self.is_elif(statements[0]):
            lead = "else:\n" + indent
        elif not self._owns_line(start):  # behind a colon
            colon = self.source.previous(start)
            start = colon.end if colon is not None else 0
            lead = "\n" + indent
        return Draft(start, end, lead + self.lines(items, indent))

    def left_out(self, statement: ast.stmt) -> Draft:
        """Nothing in place of a statement, with no more blank lines than stood on one side of it.

        At the beginning of a block, there are none.
        """
        draft, lines = self.replace([statement], []), self.source.lines
        row, end = lines.position(draft.start).row, lines.position(draft.end).row
        if draft.text or draft.start != lines.line_start(row):
            return draft
        above, behind = row, end
        while above > 1 and not lines.line(above - 1).strip():
            above -= 1
        while behind < len(lines) and not lines.line(behind).strip() and behind in self.source.block(row):
            behind += 1
        begins = self.tree.block(statement)[0] is statement
        stop = behind if begins else min(behind, end + row - above)
        return dataclasses.replace(draft, end=lines.line_start(stop))

    def insert_before(
        self, statement: ast.stmt, new: Sequence[Statement], *, above_comments: bool = False, blank_lines: int = 0
    ) -> Draft:
        """More code in front of a statement, or of the comments on the lines above it, and blank lines behind it."""
        if self.is_elif(statement) or not self.have_lines([statement]):
            old = self.moved([statement])
            return self._around([statement], [*new, blocks.apart(old[0], blank_lines), *old[1:]])
        start, indent = self._start(statement), self.indent(statement)
        lines = self.source.lines
        row = lines.position(start).row
        while above_comments and row > 1 and lines.line(row - 1).startswith(indent + "#"):
            row -= 1
            start = lines.line_start(row) + len(indent)
        return Draft(start, start, self.lines(new, indent) + "\n" * (blank_lines + 1) + indent)

    def insert_after(self, statement: ast.stmt, new: Sequence[Statement], *, blank_lines: int = 0) -> Draft:
        """More code behind a statement and the comment at the end of its line, and blank lines in front of it."""
        if self.is_elif(statement) or not self.have_lines([statement]):
            return self._around([statement], [*self.moved([statement]), blocks.apart(new[0], blank_lines), *new[1:]])
        end = self.source.lines.line_end(statement.end_lineno or statement.lineno)
        indent = self.indent(statement)
        return Draft(end, end, "\n" * (blank_lines + 1) + indent + self.lines(new, indent))

    def changed(self, statement: ast.stmt, change: Callable[[Statement], Statement]) -> Draft:
        """A statement on lines of its own as a function changes it."""
        (old,) = self.moved([statement])
        return narrowed(self._around([statement], [change(old)]), self.source.text)

    def set_apart(self, statement: ast.stmt) -> list[Draft]:
        """A blank line above a statement that follows another one on the line above it."""
        row, block = statement.lineno, self.tree.block(statement)
        above = self.source.lines.line(row - 1).strip() if row > 1 else ""
        if block[0] is statement or block[self.tree.index(statement) - 1].end_lineno == row or above[:1] in ("", "#"):
            return []
        start = self.source.lines.line_start(row)
        return [Draft(start, start, "\n")]

    def wrap(self, statements: Sequence[ast.stmt], template: str, **holes: Holes) -> Draft:
        """Statements that follow each other in one block, as the `{*body}` of a template: `if {test}:`."""
        return self._around(statements, [templates.statement(template, body=self.moved(statements), **holes)])

    def unwrap(self, statements: Sequence[ast.stmt], way: Sequence[ast.stmt]) -> Draft:
        """Statements that stand inside of others in place of these, with their comments; the rest goes with its own."""
        return dataclasses.replace(self._around(statements, self.moved(way, above=True)), drops=True)

    def _around(self, statements: Sequence[ast.stmt], new: Sequence[Statement]) -> Draft:
        """New code that holds the statements themselves as they were moved, with the comment behind them."""
        draft = self.replace(statements, new)
        if not self.have_lines(statements):
            return draft
        last = statements[-1]
        return Draft(draft.start, self.source.lines.line_end(last.end_lineno or last.lineno), draft.text)

    def lines(self, new: Sequence[Statement], indent: str) -> str:
        """New code as the lines of a block, but for the indentation of the first one."""
        return blocks.written(new, indent, self.unit).removeprefix(indent)

    def _alone(self, statements: Sequence[ast.stmt]) -> list[Statement]:
        """Statements that share a line with others, for lines of their own; further lines stay as they are."""
        return [templates.in_place(one) for s in statements for one in blocks.read(self.source.of(s), "", self.unit)]

    def moved(self, statements: Sequence[ast.stmt], *, above: bool = False) -> list[Statement]:
        """Statements that follow each other, with their comments, for another block.

        `above`: with the comments on the lines in front of them. An `elif` becomes an `if`.

        Raises:
            DeclinedError: libcst does not read them, or a compound one shares a line with others.
        """
        lines = self.source.lines
        if not self.have_lines(statements):
            if any(hasattr(s, "body") or isinstance(s, ast.Match) for s in statements):
                raise DeclinedError("statements share lines with others")
            return self._alone(statements)
        row = lines.position(self._start(statements[0])).row
        start = lines.line_start(row)
        if self.is_elif(statements[0]):
            start += len(self._line_indent(statements[0])) + len("el")
        end = lines.line_end(statements[-1].end_lineno or statements[-1].lineno)
        code = self.source.between(start, end)
        own = self._line_indent(statements[0])
        if self.is_elif(statements[0]):
            code = own + code
        while above and row > 1 and lines.line(row - 1).startswith(own + "#"):
            row -= 1
            code = f"{lines.line(row).rstrip()}\n{code}"
        return blocks.read(code, own, self.unit)

    def commented(self, old: ast.stmt, new: Sequence[Statement]) -> list[Statement]:
        """Statements that stand in place of another one, with the comments above it, in its header and behind it.

        A comment that they have already is not repeated.
        """
        lines = self.source.lines
        if not new or not self.have_lines([old]):
            return [*new]
        above: list[str] = []
        row, own = old.lineno - 1, self._line_indent(old)
        while row and lines.line(row).startswith(own + "#"):
            above.insert(0, lines.line(row).strip())
            row -= 1
        body = getattr(old, "body", None)
        last = (body[0].lineno - 1 if body else old.end_lineno) or old.lineno
        inside = self._comments_in(lines.line_start(old.lineno), lines.line_end(last) + 1)
        behind = [comment.text for comment in inside if not (body and comment.own_line)]
        there = Counter(comment.text for comment in comments(blocks.written(new, "", self.unit)))
        missing = [
            [text for text in texts if not there[text] and not _FOR_TOOLS.match(text)] for texts in (above, behind)
        ]
        if len(missing[1]) == len(new) == 1:
            return [blocks.commented(new[0], missing[0], missing[1][0])]
        return [blocks.commented(new[0], [*missing[0], *missing[1]]), *new[1:]]

    def is_elif(self, statement: ast.stmt) -> bool:
        """Whether a statement is written as the `elif` of another one."""
        return isinstance(statement, ast.If) and self.source.text.startswith("elif", self._start(statement))

    # --- the shape of blocks

    def _start(self, node: ast.AST) -> int:
        return self.source.range(node)[0]

    def _owns_line(self, offset: int) -> bool:
        """Whether nothing but blanks stands in front of an offset in its line, which no backslash joins to the last."""
        lines = self.source.lines
        row = lines.position(offset).row
        return not self.source.text[lines.line_start(row) : offset].strip() and row not in self._joined_rows

    @cached_property
    def _joined_rows(self) -> frozenset[int]:
        """The lines that a backslash joins to the one before them."""
        lines = self.source.lines
        rows = [row for row in range(1, len(lines)) if lines.line(row).endswith("\\")]
        commented = {comment.row for comment in self.comments} if rows else set()
        return frozenset(row + 1 for row in rows if row not in commented)

    def _begins(self, offset: int) -> bool:
        """Whether a statement begins at an offset, on a line of its own."""
        return offset in self._beginnings and self._owns_line(offset)

    @cached_property
    def _beginnings(self) -> frozenset[int]:
        return frozenset(self._start(node) for node in ast.walk(self.tree.root) if isinstance(node, ast.stmt))

    def _line_indent(self, node: ast.AST) -> str:
        return self._indent_at(self.source.lines.line_start(node.lineno))  # type: ignore[attr-defined]

    def _indent_at(self, offset: int) -> str:
        """The indentation of the line that an offset is in; a form feed starts it anew."""
        line = self.source.lines.line(self.source.lines.position(offset).row)
        return line[: len(line) - len(line.lstrip())].rpartition("\f")[2]

    def have_lines(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether statements that follow each other share no lines with others."""
        block = self.tree.block(statements[0])
        first, last = self.tree.index(statements[0]), self.tree.index(statements[-1])
        return self._group(block, first, last) == (first, last) and self._owns_line(self._start(statements[0]))

    def _group(self, block: Sequence[ast.stmt], first: int, last: int) -> tuple[int, int]:
        """The statements that share lines with those between two indices of a block, as indices of it."""
        while first and not self._owns_line(self._start(block[first])):
            first -= 1
        while last + 1 < len(block) and not self._owns_line(self._start(block[last + 1])):
            last += 1
        return first, last

    def _without_lines(self, start: int, end: int) -> Draft:
        """Leaves statements out, and their lines if nothing else stands there; a comment behind them stays."""
        lines, text = self.source.lines, self.source.text
        first, last = lines.position(start).row, lines.position(end).row
        stop = lines.line_end(last)
        rest = text[end:stop].lstrip(" \t;")
        if rest:
            return Draft(start, stop - len(rest), "")
        return Draft(lines.line_start(first), lines.line_start(last + 1) if last < len(lines) else stop, "")


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is just a string."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
