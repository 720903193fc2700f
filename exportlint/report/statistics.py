"""How many findings of each rule there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.context import Context

FORMATS = frozenset({"full", "concise", "grouped", "json", "jsonl"})
"""The output formats that statistics can have."""


def render(findings: Sequence[Finding], output_format: str, context: Context) -> str:
    """The counts, largest first."""
    counts = sorted(
        Counter((f.code, f.name, f.severity) for f in findings).items(), key=lambda item: (-item[1], item[0])
    )
    if output_format in ("json", "jsonl"):
        import json

        rows = [
            {"code": code, "name": name, "severity": severity.value, "count": count}
            for (code, name, severity), count in counts
        ]
        if output_format == "json":
            return json.dumps(rows, indent=2) + "\n"
        return "".join(json.dumps(row) + "\n" for row in rows)
    width = max((len(str(count)) for _, count in counts), default=0)
    return "".join(
        f"{count:>{width}}\t{context.style(severity.value, severity.value)}\t{code}\t{name}\n"
        for (code, name, severity), count in counts
    )
