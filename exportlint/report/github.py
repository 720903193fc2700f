"""Workflow commands of GitHub Actions, which annotate the changed lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context, located, printable
from exportlint.report.regions import region

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    return "".join(_command(finding, context) + "\n" for finding in findings)


def _command(finding: Finding, context: Context) -> str:
    place = region(finding, context)
    properties = {
        "title": f"exportlint ({finding.code} {finding.name})",
        "file": finding.filename,
        "line": str(place.start_row),
        "endLine": str(place.end_row),
    }
    # GitHub takes columns only where they are of one line.
    if place.start_column is not None and place.start_row == place.end_row:
        properties |= {"col": str(place.start_column), "endColumn": str(place.end_column)}
    listed = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
    shown = f"{context.shown(finding.filename)}:{located(finding)}"
    text = f"{shown}: {finding.code} {finding.name}: {finding.message}"
    return f"::{_COMMANDS[finding.severity.value]} {listed}::{_escape(text)}"


def _escape(text: str, more: str = "") -> str:
    text = "".join(char if char in "\r\n" else printable(char) for char in text)
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text
