"""Which findings of files keep their fixes from being applied, by what is left when all others are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from exportlint.findings import Finding, Span
from exportlint.fixer.shifts import Chain

Obstacles = Mapping[tuple[str, str], list[tuple[Span, str]]]
"""By file and rule: where fixes are left in the fixed files, and why."""


def obstacles(remaining: Iterable[Finding]) -> Obstacles:
    """The fixes that are not applied, of the findings in fixed files."""
    found: dict[tuple[str, str], list[tuple[Span, str]]] = {}
    for finding in remaining:
        if finding.fix is not None and finding.fix.obstacle:
            found.setdefault((finding.filename, finding.code), []).append((finding.span, finding.fix.obstacle))
    return found


def with_obstacle(finding: Finding, left: Obstacles, shifts: Mapping[str, Chain]) -> Finding:
    """A finding in a file as it was, with what keeps its fix from being applied; `shifts` say what fixes did."""
    known = left.get((finding.filename, finding.code))
    if not known or finding.fix is None:
        return finding
    shift = shifts.get(finding.filename, Chain())
    now, around = shift.span(finding.span), shift.reach(finding.span)
    for span, why in known:
        if span == now or (now is None and around.start <= span.start and span.end <= around.end):
            return replace(finding, fix=replace(finding.fix, obstacle=why))
    return finding
