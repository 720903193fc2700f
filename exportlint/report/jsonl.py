"""JSON lines: the objects of the JSON report, one a line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context
from exportlint.report.json_ import as_object


def render(findings: Sequence[Finding], _context: Context) -> str:
    """The report."""
    return "".join(json.dumps(as_object(finding)) + "\n" for finding in findings)
