"""Pylint's parseable format, which Jenkins reads: `net.py:5: [EXP101(tensor-branch), Net.forward] ...`."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context, located, printable
from exportlint.report.regions import region


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    return "".join(_line(finding, context) + "\n" for finding in findings)


def _line(finding: Finding, context: Context) -> str:
    row = region(finding, context).start_row
    code = f"{finding.code}({printable(finding.name)}), {printable(finding.symbol)}"
    cell = "" if finding.cell is None else f" ({located(finding)})"
    return f"{context.shown(finding.filename)}:{row}: [{code}] {printable(finding.message)}{cell}"
