"""JSON lines: the objects of the JSON report, one a line."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context
from exportlint.report.json_ import as_object, dumped


def render(findings: Sequence[Finding], _context: Context) -> str:
    """The report."""
    return "".join(dumped(as_object(finding)) + "\n" for finding in findings)
