"""SARIF 2.1.0, which code hosts and editors show in the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exportlint.findings import Finding, Span
from exportlint.registry import find_rule
from exportlint.report.json_ import dumped
from exportlint.report.paths import folder_uri
from exportlint.report.regions import Region
from exportlint.report.sarif import LEVELS, SCHEMA, artifact, bounds, driver, message
from exportlint.verify.reports import MISSED, Outcome, told
from exportlint.verify.results import Run
from exportlint.verify.verdicts import Sources

_UNTOLD = ("times out", "cannot be built")
"""The verdicts that say nothing about a line of code."""


def render(outcome: Outcome, sources: Sources) -> str:
    """The report."""
    said = told(outcome, sources)
    ids = list(dict.fromkeys(_id(finding) for finding, *_ in said))
    run = {
        "tool": {"driver": driver([_rule(name) for name in ids])},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": folder_uri(outcome.root)}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(r, outcome) for r in outcome.runs if r.verdict in _UNTOLD],
            }
        ],
        "results": [_result(*one, ids, outcome.root) for one in said],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return dumped(document, indent=2) + "\n"


def _id(finding: Finding) -> str:
    return f"{MISSED}/{finding.name}" if finding.code == MISSED else finding.code


def _rule(name: str) -> dict[str, Any]:
    rule = find_rule(name)
    if rule is None:
        text = f"torch.export failure without a finding: {name.partition('/')[2]}"
        return {"id": name, "name": name.partition("/")[2], "shortDescription": {"text": text}}
    text = (rule.check.__doc__ or rule.name).strip().partition("\n")[0]
    return {"id": name, "name": rule.name, "shortDescription": {"text": text}, "helpUri": rule.url}


def _result(finding: Finding, verdict: str, why: str, run: Run | None, ids: list[str], root: Path) -> dict[str, Any]:
    properties = {"verdict": verdict, "why": why, "mode": finding.mode}
    if run is not None:
        properties |= {"target": run.target, "device": run.device}
    result = {
        "ruleId": _id(finding),
        "ruleIndex": ids.index(_id(finding)),
        "level": LEVELS[finding.severity],
        "message": message(finding.message if verdict == MISSED else f"{finding.message} ({verdict}: {why})"),
        "locations": [_location(finding.filename, finding.span, root)],
        "properties": properties,
    }
    if verdict == "refuted":  # SARIF has a word for a check that came out well, and wants no level then
        result |= {"kind": "pass", "level": "none"}
    if finding.trail:
        result["relatedLocations"] = [
            {**_location(step.filename, step.span, root), "message": message(step.message)} for step in finding.trail
        ]
    return result


def _location(filename: str, span: Span, root: Path) -> dict[str, Any]:
    region = bounds(Region(span.start.row, span.end.row, span.start.column, span.end.column))
    return {"physicalLocation": {"artifactLocation": artifact(filename, root), "region": region}}


def _notification(run: Run, outcome: Outcome) -> dict[str, Any]:
    text = f"{run.target} ({run.mode}, {run.device}) {run.verdict}: {run.reason}"
    place = outcome.place(run)
    at = []
    if place is not None:
        at.append(
            {
                "physicalLocation": {
                    "artifactLocation": artifact(str(place[0]), outcome.root),
                    "region": {"startLine": max(place[1], 1)},
                }
            }
        )
    return {"level": "error", "message": message(text), "locations": at}
