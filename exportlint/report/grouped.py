"""Findings under the names of their files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report.concise import heading
from exportlint.report.context import Context, located, printable


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    return "".join(
        _group(context.shown(filename), list(group), context)
        for filename, group in itertools.groupby(findings, key=lambda finding: finding.filename)
    )


def _group(filename: str, findings: Sequence[Finding], context: Context) -> str:
    places = [located(f) for f in findings]
    width = max(map(len, places))
    lines = (
        f"  {place:<{width}}  {heading(f, context)} {printable(f.message)}\n"
        for place, f in zip(places, findings, strict=True)
    )
    return f"{context.style('bold', filename)}:\n{''.join(lines)}\n"
