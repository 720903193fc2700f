"""One line a finding: `model.py:5:12: error[EXP101 tensor-branch]: ...`."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context, located, printable


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    return "".join(_line(finding, context) + "\n" for finding in findings)


def _line(finding: Finding, context: Context) -> str:
    place = context.style("bold", context.shown(finding.filename))
    return f"{place}:{located(finding)}: {heading(finding, context)} {printable(finding.message)}"


def heading(finding: Finding, context: Context) -> str:
    """`error[EXP101 tensor-branch]:`, and a mark if the finding can be fixed."""
    severity = finding.severity.value
    mark = f" [{context.style('fixable', '*')}]" if context.is_fixable(finding) else ""
    return f"{context.style(severity, f'{severity}[{finding.code} {printable(finding.name)}]')}:{mark}"
