"""The layout of what edits leave: no line longer than those of the file, or than its formatter allows.

`laid_out` wraps the lines of one fix, `laid_out_edits` those of several, and leaves out the imports that they leave
unused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

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
