"""Workflow commands of GitHub Actions, which annotate the changed lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    return "".join(_command(finding, context) + "\n" for finding in findings)


def _command(finding: Finding, context: Context) -> str:
    start, end = finding.span.start, finding.span.end
    properties = {
        "title": f"exportlint ({finding.code} {finding.name})",
        "file": finding.filename,
        "line": str(start.row),
        "endLine": str(end.row),
    }
    # GitHub takes columns only where they are of one line.
    if start.row == end.row:
        properties |= {"col": str(start.column), "endColumn": str(end.column)}
    listed = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
    place = f"{context.shown(finding.filename)}:{start.row}:{start.column}"
    text = f"{place}: {finding.code} {finding.name}: {finding.message}"
    return f"::{_COMMANDS[finding.severity.value]} {listed}::{_escape(text)}"


def _escape(text: str, more: str = "") -> str:
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text
