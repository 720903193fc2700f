"""What the page says below a line of code."""

from __future__ import annotations

from pathlib import Path

from exportlint.findings import Finding
from exportlint.registry import find_rule
from exportlint.report import shortened
from exportlint.report.context import located
from exportlint.verify.reports import MISSED
from exportlint.verify.reports.html.parts import badge, prose, shown, text
from exportlint.verify.results import Run

Said = tuple[Finding, str, str, Run | None]
"""As `exportlint.verify.reports.told` gives it."""


def note(said: Said, root: Path) -> str:
    """A finding, its verdict, and why."""
    finding, verdict, why, run = said
    severity = finding.severity.value
    by = finding.mode if run is None else f"{run.target}, {run.mode}, {run.device}"
    reason = "no finding predicts this" if verdict == MISSED else why
    parts = [
        f'<p>{badge(verdict)} <strong class="{severity}">{severity}</strong> {_title(finding)} ',
        f"{prose(finding.message)}</p>",
        f'<p class="quiet">{text(reason)} — {text(by)}</p>',
    ]
    if finding.trail:
        places = [
            (step.message, f"{shown(Path(step.filename), root)}:{located(step)}") for step in shortened(finding.trail)
        ]
        parts.append(f"<ol>{''.join(f'<li>{prose(said)} ({text(place)})</li>' for said, place in places)}</ol>")
    if finding.help:
        parts.append(f"<p>Help: {prose(finding.help)}</p>")
    if finding.fix is not None:
        parts.append(f"<p>Fix ({finding.fix.applicability.value}): {prose(finding.fix.message)}</p>")
    return "".join(parts)


def _title(finding: Finding) -> str:
    rule = find_rule(finding.code)
    if rule is None:
        return f"<b>{text(finding.name)}</b>"
    return f'<a href="{text(rule.url)}">{text(finding.code)} {text(finding.name)}</a>'
