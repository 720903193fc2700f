"""Logging commands of Azure Pipelines, which list the findings on the summary of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exportlint.findings import Finding, Severity
from exportlint.report.context import Context, located, printable
from exportlint.report.paths import portable
from exportlint.report.regions import region

_LINE_ENDS = re.compile(r"([\r\n])")
_TYPES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "warning"}
"""Azure Pipelines has no others."""


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    return "".join(_command(finding, context) + "\n" for finding in findings)


def _command(finding: Finding, context: Context) -> str:
    place = region(finding, context)
    properties = {
        "type": _TYPES[finding.severity],
        "sourcepath": portable(finding.filename, context.root or context.cwd),
        "linenumber": str(place.start_row),
    }
    if place.start_column is not None:
        properties["columnnumber"] = str(place.start_column)
    properties["code"] = finding.code
    listed = "".join(f"{key}={_escape(value, ';]')};" for key, value in properties.items())
    kind = "info: " if finding.severity is Severity.INFO else ""
    cell = "" if finding.cell is None else f" ({located(finding)})"
    return f"##vso[task.logissue {listed}]{_escape(f'{kind}{finding.name}: {finding.message}{cell}')}"


def _escape(text: str, more: str = "") -> str:
    text = "".join(part if part in "\r\n" else printable(part) for part in _LINE_ENDS.split(text))
    text = text.replace("%", "%AZP25")
    for char in "\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text
