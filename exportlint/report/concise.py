"""One line a finding: `model.py:5:12: error[EXP101 tensor-branch]: ...`."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context, located, printable
from exportlint.report.wrapping import wrapped


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    lines = (line for finding in findings for line in wrapped(_line(finding, context), context.width, "    "))
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding, context: Context) -> str:
    place = context.style("bold", context.shown(finding.filename))
    return f"{place}:{located(finding)}: {heading(finding, context)} {printable(finding.message)}"


def heading(finding: Finding, context: Context) -> str:
    """`error[EXP101 tensor-branch]:`, and a mark if the finding can be fixed."""
    severity = finding.severity.value
    mark = f" [{context.style('fixable', '*')}]" if context.is_fixable(finding) else ""
    return f"{context.style(severity, f'{severity}[{finding.code} {printable(finding.name)}]')}:{mark}"
