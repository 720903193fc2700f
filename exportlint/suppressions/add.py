"""Writing suppressions for findings, so that they are not reported again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from exportlint import atomic
from exportlint.findings import Finding
from exportlint.registry import expand
from exportlint.source import SourceError, SourceFile, comments
from exportlint.suppressions.logical import LogicalLines
from exportlint.suppressions.pragmas import Directive, directives

_OF_THE_LINTER = expand("EXP0")


class _Edit(NamedTuple):
    offset: int
    text: str


def add_ignores(source: SourceFile, findings: Iterable[Finding], reason: str = "") -> int:
    """Write a suppression of each finding into its file, and return how many lines were changed.

    Findings about the linter itself (EXP0..) are left: there is nothing to suppress in a file that cannot be parsed.

    Raises:
        SourceError: the file cannot be written, or not without changing other bytes of it.
    """
    edits = _edits(source, findings, reason)
    if not edits:
        return 0
    after = source.edited([(edit.offset, edit.offset, edit.text) for edit in sorted(edits)])
    if not source.is_faithful:
        raise SourceError(source.filename, f"cannot be written again as {source.encoding} without other changes")
    atomic.replace(source.path, after.data)
    return len(edits)


def _edits(source: SourceFile, findings: Iterable[Finding], reason: str) -> list[_Edit]:
    names_by_row: dict[int, list[str]] = {}
    lines = LogicalLines(source.text)
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        if finding.code in _OF_THE_LINTER:
            continue
        line = lines.at(finding.span.start.row)
        if line is None:
            raise SourceError(source.filename, "has no statement where the finding is", finding.span.start.row)
        names = names_by_row.setdefault(line.last, [])
        if finding.name not in names:
            names.append(finding.name)
    lists = _lists(source) if names_by_row else {}
    return [_edit(source, row, names, reason, lists.get(row)) for row, names in names_by_row.items()]


def _lists(source: SourceFile) -> dict[int, Directive]:
    """The trailing `ignore[...]` of each row that has one."""
    return {
        comment.row: directive
        for comment in comments(source.text)
        if not comment.own_line
        for directive in directives(comment)
        if isinstance(directive, Directive) and directive.verb == "ignore" and directive.selectors
    }


def _edit(source: SourceFile, row: int, names: list[str], reason: str, existing: Directive | None) -> _Edit:
    if existing is not None:
        bracket = source.lines.offset(existing.span.end) - 1
        before = source.text[:bracket].rstrip()
        return _Edit(bracket, (" " if before.endswith(",") else ", ") + ", ".join(names))
    start = source.lines.line_start(row)
    code = source.text[start : source.lines.line_end(row)].rstrip(" \t\f")
    pragma = f"  # exportlint: ignore[{', '.join(names)}]"
    return _Edit(start + len(code), f"{pragma} {reason}".rstrip())
