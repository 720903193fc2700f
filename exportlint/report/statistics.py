"""How many findings of each rule there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from exportlint.findings import Finding, Severity
from exportlint.report.context import Context

FORMATS = frozenset({"full", "concise", "grouped", "json", "jsonl"})
"""The output formats that statistics can have."""


def render(findings: Sequence[Finding], output_format: str, context: Context) -> str:
    """The counts, largest first, with `[*]` where all findings of a rule can be fixed, and `[-]` where some can."""
    fixable = Counter(map(_kind, filter(context.is_fixable, findings)))
    counts = sorted(Counter(map(_kind, findings)).items(), key=lambda item: (-item[1], item[0]))
    if output_format in ("json", "jsonl"):
        import json

        rows = [
            {"code": code, "name": name, "severity": severity.value, "count": count, "fixable_count": fixable[kind]}
            for kind, count in counts
            for code, name, severity in [kind]
        ]
        if output_format == "json":
            return json.dumps(rows, indent=2) + "\n"
        return "".join(json.dumps(row) + "\n" for row in rows)
    width = max((len(str(count)) for _, count in counts), default=0)
    lines = []
    for kind, count in counts:
        code, name, severity = kind
        sign = "*" if fixable[kind] == count else "-" if fixable[kind] else " "
        mark = f"[{context.style('fixable', sign)}]\t" if fixable else ""
        lines.append(f"{count:>{width}}\t{mark}{context.style(severity.value, severity.value)}\t{code}\t{name}\n")
    return "".join(lines)


def _kind(finding: Finding) -> tuple[str, str, Severity]:
    return finding.code, finding.name, finding.severity
