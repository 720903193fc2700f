"""The layout of what edits leave: no line longer than those of the file, or than its formatter allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from exportlint.findings import Edit
from exportlint.fixes.edit.drafts import NEWLINE, Draft, applied, composed
from exportlint.fixes.edit.imports import unused_imports
from exportlint.fixes.edit.statements import Statements
from exportlint.fixes.edit.text import Text, width
from exportlint.fixes.edit.tree import Tree
from exportlint.fixes.edit.wrapping import wrapped
from exportlint.fixes.errors import DeclinedError
from exportlint.source import LineIndex, SourceFile, SyntaxProblem, from_text, parse


def laid_out(text: Text, drafts: Sequence[Draft], line_length: int, unit: Callable[[], str]) -> Sequence[Draft]:
    """Drafts that do the same and wrap the lines which they leave too long; they are in order and do not overlap.

    Lines may be as long as the longest one of the file, and as `line_length` anyway. `unit` tells one level of
    indentation.
    """
    after = applied(text.text, drafts)
    limit = max(line_length, text.widest)
    lines = LineIndex(after)
    rows = [row for row in _touched(lines, drafts) if width(lines.line(row)) > limit]
    if not rows:
        return drafts
    try:
        return composed(text.text, drafts, list(wrapped(Text(from_text(after, text.path)), rows, limit, unit())))
    except DeclinedError:  # nobody knows where such a text can be broken
        return drafts


def laid_out_edits(source: SourceFile, edits: Iterable[Edit], line_length: int) -> list[Edit]:
    """The same for edits of a file that go together, without the imports that nothing uses after them."""
    text = Text(source)
    drafts = sorted(
        {
            Draft(text.lines.offset(e.span.start), text.lines.offset(e.span.end), NEWLINE.sub("\n", e.content))
            for e in edits
        }
    )
    try:
        more = unused_imports(text, Tree(parse(source)), drafts)
    except SyntaxProblem:
        more = []
    found = laid_out(text, sorted([*drafts, *more]), line_length, lambda: _unit(text, source))
    return list(edits) if found == drafts else [*text.edits(found)]


def _unit(text: Text, source: SourceFile) -> str:
    try:
        return Statements(text, Tree(parse(source))).unit
    except SyntaxProblem:
        return "    "


def _touched(after: LineIndex, drafts: Iterable[Draft]) -> list[int]:
    """The rows of a text that drafts changed."""
    rows: dict[int, None] = {}
    grown = 0
    for draft in drafts:
        start = draft.start + grown
        grown += len(draft.text) - (draft.end - draft.start)
        first, last = after.position(start).row, after.position(start + len(draft.text)).row
        rows.update(dict.fromkeys(range(first, last + 1)))
    return list(rows)
