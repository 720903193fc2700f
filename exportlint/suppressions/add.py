"""Writing suppressions for findings, so that they are not reported again."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from operator import attrgetter

from exportlint import atomic
from exportlint.edits import places
from exportlint.findings import Edit, Finding, Span
from exportlint.registry import expand
from exportlint.source import SourceError, SourceFile, SyntaxProblem, comments, parse
from exportlint.suppressions import find_suppressions
from exportlint.suppressions.logical import LogicalLines
from exportlint.suppressions.pragmas import Directive, directives

OF_THE_LINTER = expand("EXP0")
"""Findings about the linter itself: there is nothing to suppress in a file that cannot be parsed."""

_NAME: Callable[[Finding], str] = attrgetter("name")
_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")


def add_ignores(source: SourceFile, findings: Iterable[Finding], reason: str = "") -> int:
    """Write a suppression of each finding into its file, and return how many lines were changed.

    Raises:
        SourceError: the file cannot be written, or not without changing other bytes of it.
    """
    edits = ignores(source, findings, reason)
    if not edits:
        return 0
    after = source.edited(places(edits, source.lines))
    if not source.is_faithful:
        raise SourceError(source.filename, f"cannot be saved as {source.encoding} without other changes")
    atomic.replace(source.path, after.data)
    return len(edits)


def ignores(
    source: SourceFile, findings: Iterable[Finding], reason: str = "", by: Callable[[Finding], str] = _NAME
) -> list[Edit]:
    """The edits that suppress findings of a file, one for each line in which some are. Those of the linter are left.

    `by` says what the comments call a rule.

    Raises:
        SourceError: a finding is in no statement.
    """
    names_by_row: dict[int, list[str]] = {}
    lines = LogicalLines(source.text)
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        if finding.code in OF_THE_LINTER:
            continue
        line = lines.at(finding.span.start.row)
        if line is None:
            raise SourceError(source.filename, "has no statement where the finding is", finding.span.start.row)
        names = names_by_row.setdefault(line.last, [])
        if by(finding) not in names:
            names.append(by(finding))
    lists = _lists(source) if names_by_row else {}
    return [_ignore(source, row, names, reason, lists.get(row)) for row, names in names_by_row.items()]


def file_ignore(source: SourceFile, name: str, reason: str = "") -> Edit:
    """The edit that suppresses a rule in the whole file, by its name or code.

    The rule joins a list that there is, or gets a line below what has to stand first: `#!`, the encoding, a docstring,
    the magic of a cell.
    """
    for pragma in find_suppressions(source.text).pragmas:
        if pragma.directive.verb == "file-ignore" and pragma.directive.selectors:
            return _join(source, pragma.directive, [name])
    newline = next((end for end in ("\r\n", "\n", "\r") if end in source.text), "\n")
    line = f"# exportlint: file-ignore[{name}] {reason}".rstrip()
    for row in range(_head(source), len(source.lines)):
        start = source.lines.line_start(row + 1)
        if source.admits([(start, start, line + newline)]):
            return _insertion(source, start, line + newline)
    return _insertion(source, len(source.text), newline + line)


def _head(source: SourceFile) -> int:
    """The last row of what has to stand first in a file, 0 if nothing has to."""
    docstring = _docstring_end(source)
    if docstring:
        return docstring
    first, second = (source.lines.line(row) if row <= len(source.lines) else "" for row in (1, 2))
    if _ENCODING.match(second) and (not first.strip() or first.lstrip().startswith("#")):
        return 2
    return int(first.startswith("#!") or _ENCODING.match(first) is not None)


def _docstring_end(source: SourceFile) -> int:
    """The last row of the logical line that the docstring of a file is in, 0 if it has none, or cannot be parsed."""
    try:
        module = parse(source)
    except SyntaxProblem:
        return 0
    if ast.get_docstring(module, clean=False) is None:
        return 0
    line = LogicalLines(source.text).at(module.body[0].end_lineno or 1)
    return 0 if line is None else line.last


def _lists(source: SourceFile) -> dict[int, Directive]:
    """The trailing `ignore[...]` of each row that has one."""
    return {
        comment.row: directive
        for comment in comments(source.text)
        if not comment.own_line
        for directive in directives(comment)
        if isinstance(directive, Directive) and directive.verb == "ignore" and directive.selectors
    }


def _ignore(source: SourceFile, row: int, names: list[str], reason: str, existing: Directive | None) -> Edit:
    if existing is not None:
        return _join(source, existing, names)
    start = source.lines.line_start(row)
    code = source.text[start : source.lines.line_end(row)].rstrip(" \t\f")
    pragma = f"  # exportlint: ignore[{', '.join(names)}]"
    return _insertion(source, start + len(code), f"{pragma} {reason}".rstrip())


def _join(source: SourceFile, existing: Directive, names: list[str]) -> Edit:
    bracket = source.lines.offset(existing.span.end) - 1
    before = source.text[:bracket].rstrip()
    return _insertion(source, bracket, (" " if before.endswith(",") else ", ") + ", ".join(names))


def _insertion(source: SourceFile, offset: int, text: str) -> Edit:
    place = source.lines.position(offset)
    return Edit(Span(place, place), text)
