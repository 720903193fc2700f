"""GitLab's code quality report, which merge requests show what is new of."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from exportlint.findings import Finding, Severity
from exportlint.report.context import Context
from exportlint.report.json_ import dumped
from exportlint.report.paths import portable
from exportlint.report.regions import region

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report: an issue a line."""
    issues = (dumped(_issue(finding, context)) for finding in findings)
    return "[" + ",".join(f"\n{issue}" for issue in issues) + ("\n" if findings else "") + "]\n"


def _issue(finding: Finding, context: Context) -> dict[str, Any]:
    path = portable(finding.filename, context.root or context.cwd)
    place = region(finding, context)
    cell = "" if finding.cell is None else f" (cell {finding.cell})"
    return {
        "description": f"{finding.message}{cell}",
        "check_name": f"{finding.code} {finding.name}",
        # Issues of different files are told apart by it, too.
        "fingerprint": sha256(f"{path}\0{finding.fingerprint}".encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": path, "lines": {"begin": place.start_row, "end": place.end_row}},
    }
