"""The rules that comments name, at a place of a text."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.findings import Span
from exportlint.source import Comment, LineIndex, comments
from exportlint.suppressions.pragmas import Directive, Selector, directives


def comment_at(lines: LineIndex, offset: int) -> Comment | None:
    """The comment that holds an offset, or ends there."""
    row = lines.position(offset).row
    if "#" not in lines.line(row):  # most lines; all comments of a text take their time
        return None
    found = (comment for comment in comments(lines.text, lines) if comment.row == row)
    return next((comment for comment in found if comment.start_offset < offset <= comment.end_offset), None)


def selector_at(lines: LineIndex, offset: int) -> Selector | None:
    """The entry of a list of rules in a comment that holds an offset, or ends there."""
    comment = comment_at(lines, offset)
    place = lines.position(offset)
    found = () if comment is None else _selectors(comment)
    return next((s for s in found if s.span.start <= place <= s.span.end), None)


def _selectors(comment: Comment) -> Iterator[Selector]:
    for directive in directives(comment):
        if isinstance(directive, Directive):
            yield from directive.selectors


def is_in(span: Span, lines: LineIndex, offset: int) -> bool:
    """Whether a span holds an offset, or ends there."""
    return lines.offset(span.start) <= offset <= lines.offset(span.end)
