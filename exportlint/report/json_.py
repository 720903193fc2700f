"""A JSON list of objects, one a finding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from exportlint.findings import Finding, Fix, Position
from exportlint.registry import find_rule
from exportlint.report.context import IN_LINE_COMMAND, Context


def render(findings: Sequence[Finding], _context: Context) -> str:
    """The report."""
    return dumped([as_object(finding) for finding in findings], indent=2) + "\n"


def dumped(value: object, indent: int | None = None) -> str:
    """JSON in ASCII: valid whatever encoding the output has, and for file names that are not Unicode.

    It holds nothing that a terminal obeys, or a CI service if it is written to the log of a job.

    Raises:
        ValueError: there is a number in it that JSON does not have.
    """
    text = json.dumps(value, indent=indent, allow_nan=False)
    # Outside of strings, JSON has neither.
    return IN_LINE_COMMAND.sub(r"\1\\u005b", text.replace("\x7f", "\\u007f"))


def as_object(finding: Finding) -> dict[str, Any]:
    """What JSON says of a finding. Rows and columns count from 1, columns in Unicode code points."""
    rule = find_rule(finding.code)
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "help": finding.help,
        "filename": finding.filename,
        "location": _location(finding.span.start),
        "end_location": _location(finding.span.end),
        "symbol": finding.symbol,
        "mode": finding.mode,
        "trail": [
            {
                "filename": step.filename,
                "location": _location(step.span.start),
                "end_location": _location(step.span.end),
                "message": step.message,
                "cell": step.cell,
            }
            for step in finding.trail
        ],
        "fix": None if finding.fix is None else _fix(finding.fix),
        "url": None if rule is None else rule.url,
        "cell": finding.cell,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "obstacle": fix.obstacle or None,
        "edits": [
            {
                "location": _location(e.span.start),
                "end_location": _location(e.span.end),
                "content": e.content,
                "cell": e.cell,
            }
            for e in fix.edits
        ],
    }


def _location(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}
