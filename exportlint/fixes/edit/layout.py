"""The layout of what edits leave: no line longer than those of the file, or than its formatter allows.

`laid_out` wraps the lines of one fix, a `Layout` those of several, and leaves out the imports that they leave unused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from exportlint.findings import Edit
from exportlint.fixes.edit.drafts import NEWLINE, Draft, applied, composed
from exportlint.fixes.edit.imports import TopLevelImports
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
    limit = max(line_length, text.widest)
    if all(width(line) <= limit for part in _changed_parts(text, drafts) for line in part.split("\n")):
        return drafts
    after = applied(text.text, drafts)
    lines = LineIndex(after)
    rows = [row for row in _touched(lines, drafts) if width(lines.line(row)) > limit]
    try:
        return composed(text.text, drafts, list(wrapped(Text(from_text(after, text.path)), rows, limit, unit())))
    except DeclinedError:  # nobody knows where such a text can be broken
        return drafts


class Layout:
    """The layout of a file, for edits of it that go together. It is parsed only once."""

    def __init__(self, source: SourceFile, line_length: int) -> None:
        self._source = source
        self._text = Text(source)
        self._line_length = line_length

    def edits(self, edits: Sequence[Edit]) -> list[Edit]:
        """Edits that do the same with no line too long, and without the imports that nothing uses after them."""
        offset = self._text.lines.offset
        drafts = sorted({Draft(offset(e.span.start), offset(e.span.end), NEWLINE.sub("\n", e.content)) for e in edits})
        more = [] if self._imports is None else self._imports.unused_after(drafts)
        found = laid_out(self._text, sorted([*drafts, *more]), self._line_length, self._unit)
        return list(edits) if found == drafts else [*self._text.edits(found)]

    @cached_property
    def _tree(self) -> Tree | None:
        try:
            return Tree(parse(self._source))
        except SyntaxProblem:
            return None

    @cached_property
    def _imports(self) -> TopLevelImports | None:
        return None if self._tree is None else TopLevelImports(self._text, self._tree)

    def _unit(self) -> str:
        return "    " if self._tree is None else Statements(self._text, self._tree).unit


def _changed_parts(text: Text, drafts: Iterable[Draft]) -> Iterator[str]:
    """The lines that drafts change, as they leave them, those next to each other together. No others are looked at."""
    groups: list[tuple[int, int, list[Draft]]] = []
    for draft in drafts:
        start, end = (text.lines.position(offset).row for offset in (draft.start, draft.end))
        low, high = text.lines.line_start(start), text.lines.line_end(end)
        if groups and low <= groups[-1][1]:
            first, last, group = groups.pop()
            groups.append((first, max(last, high), [*group, draft]))
        else:
            groups.append((low, high, [draft]))
    for low, high, group in groups:
        moved = [Draft(draft.start - low, draft.end - low, draft.text) for draft in group]
        yield applied(text.text[low:high], moved)


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
