"""Reviewdog's diagnostic format, from which reviewdog makes comments and suggestions for a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exportlint.findings import Finding, Position, Severity, Span
from exportlint.registry import HOME, find_rule
from exportlint.report.context import Context, located
from exportlint.report.json_ import dumped
from exportlint.report.paths import portable
from exportlint.report.regions import region
from exportlint.report.sarif import is_offered
from exportlint.source import LineIndex

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report: a diagnostic a line."""
    head = f'{{"source":{dumped({"name": "exportlint", "url": HOME})},"diagnostics":['
    diagnostics = (dumped(_diagnostic(finding, context)) for finding in findings)
    return head + ",".join(f"\n{diagnostic}" for diagnostic in diagnostics) + "\n]}\n"


def _diagnostic(finding: Finding, context: Context) -> dict[str, Any]:
    rule = find_rule(finding.code)
    lines = context.lines(finding.filename, None) if finding.cell is None else None
    place = region(finding, context)
    where = _range(finding.span, lines) if finding.cell is None else _rows(place.start_row, place.end_row)
    cell = "" if finding.cell is None else f" (cell {located(finding).removeprefix('cell ')})"
    code = {"value": f"{finding.code} {finding.name}"}
    diagnostic: dict[str, Any] = {
        "message": f"{finding.message}{cell}" + (f"\n{finding.help}" if finding.help else ""),
        "location": {"path": portable(finding.filename, context.cwd), "range": where},
        "severity": _SEVERITIES[finding.severity],
        "code": code if rule is None else {**code, "url": rule.url},
    }
    if finding.fix is not None and is_offered(finding.fix):
        diagnostic["suggestions"] = [{"range": _range(e.span, lines), "text": e.content} for e in finding.fix.edits]
    return diagnostic


def _rows(start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": start}, "end": {"line": end}}


def _range(span: Span, lines: LineIndex | None) -> dict[str, Any]:
    return {"start": _position(span.start, lines), "end": _position(span.end, lines)}


def _position(position: Position, lines: LineIndex | None) -> dict[str, int]:
    """A position with its column in bytes of UTF-8, as reviewdog counts."""
    column = position.column
    if lines is not None and not lines.is_ascii and position.row <= len(lines):
        before = lines.line(position.row)[: column - 1]
        column += len(before.encode("utf-8", "surrogatepass")) - len(before)
    return {"line": position.row, "column": column}
