"""Workflow commands of GitHub Actions, which annotate the changed lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context, located, printable
from exportlint.source import Notebook

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    return "".join(_command(finding, context) + "\n" for finding in findings)


def _command(finding: Finding, context: Context) -> str:
    start, end = finding.span.start, finding.span.end
    rows = _rows(finding, context)
    properties = {
        "title": f"exportlint ({finding.code} {finding.name})",
        "file": finding.filename,
        "line": str(rows[0]),
        "endLine": str(rows[1]),
    }
    # GitHub takes columns only where they are of one line, and in JSON they are others.
    if start.row == end.row and finding.cell is None:
        properties |= {"col": str(start.column), "endColumn": str(end.column)}
    listed = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
    place = f"{context.shown(finding.filename)}:{located(finding)}"
    text = f"{place}: {finding.code} {finding.name}: {finding.message}"
    return f"::{_COMMANDS[finding.severity.value]} {listed}::{_escape(text)}"


def _rows(finding: Finding, context: Context) -> tuple[int, int]:
    """The rows of the file, which are those that GitHub shows: of a notebook those of its JSON."""
    start, end = finding.span.start.row, finding.span.end.row
    source = None if finding.cell is None else context.sources(finding.filename)
    if not isinstance(source, Notebook) or finding.cell is None:
        return start, end
    rows = source.file_rows[finding.cell]
    return rows[start - 1], rows[end - 1]


def _escape(text: str, more: str = "") -> str:
    text = "".join(char if char in "\r\n" else printable(char) for char in text)
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text
