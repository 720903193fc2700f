"""SARIF 2.1.0, which code hosts and editors show in the code."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from exportlint import __version__
from exportlint.findings import Finding, Severity, Span
from exportlint.registry import find_rule
from exportlint.report.json_ import dumped
from exportlint.verify.reports import MISSED, Outcome, told
from exportlint.verify.results import Run
from exportlint.verify.verdicts import Sources

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_UNTOLD = ("times out", "cannot be built")
"""The verdicts that say nothing about a line of code."""

_LINK = re.compile(r"\[([^\[\]]*)\](?=\()")


def render(outcome: Outcome, sources: Sources) -> str:
    """The report."""
    said = told(outcome, sources)
    ids = list(dict.fromkeys(_id(finding) for finding, *_ in said))
    driver = {
        "name": "exportlint",
        "version": __version__,
        "informationUri": "https://github.com/exportlint/exportlint",
        "rules": [_rule(name) for name in ids],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": outcome.root.as_uri().rstrip("/") + "/"}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(r, outcome) for r in outcome.runs if r.verdict in _UNTOLD],
            }
        ],
        "results": [_result(*one, ids, outcome.root) for one in said],
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return dumped(document, indent=2) + "\n"


def _id(finding: Finding) -> str:
    return f"{MISSED}/{finding.name}" if finding.code == MISSED else finding.code


def _rule(name: str) -> dict[str, Any]:
    rule = find_rule(name)
    if rule is None:
        text = f"torch.export met what no finding claims: {name.partition('/')[2]}"
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
        "level": _LEVELS[finding.severity],
        "message": _message(finding.message if verdict == MISSED else f"{finding.message} ({verdict}: {why})"),
        "locations": [_location(finding.filename, finding.span, root)],
        "properties": properties,
    }
    if verdict == "refuted":  # SARIF has a word for a check that came out well, and wants no level then
        result |= {"kind": "pass", "level": "none"}
    if finding.trail:
        result["relatedLocations"] = [
            {**_location(step.filename, step.span, root), "message": _message(step.message)} for step in finding.trail
        ]
    return result


def _location(filename: str, span: Span, root: Path) -> dict[str, Any]:
    start, end = span.start, span.end
    region = {"startLine": start.row, "startColumn": start.column, "endLine": end.row, "endColumn": end.column}
    return {"physicalLocation": {"artifactLocation": _artifact(Path(filename), root), "region": region}}


def _artifact(file: Path, root: Path) -> dict[str, str]:
    if file.is_relative_to(root):
        return {"uri": _relative_uri(file.relative_to(root)), "uriBaseId": "%SRCROOT%"}
    return {"uri": file.as_uri() if file.is_absolute() else _relative_uri(file)}


def _relative_uri(file: Path) -> str:
    # Of bytes, for a name need not be UTF-8.
    return quote(os.fsencode(file.as_posix()))


def _message(text: str) -> dict[str, str]:
    """A plain message: what a viewer would make a link, `[text](target)`, stays text."""
    return {"text": _LINK.sub(r"\\[\1\\]", text)}


def _notification(run: Run, outcome: Outcome) -> dict[str, Any]:
    text = f"{run.target} ({run.mode}, {run.device}) {run.verdict}: {run.reason}"
    place = outcome.place(run)
    at = []
    if place is not None:
        at.append(
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(place[0], outcome.root),
                    "region": {"startLine": max(place[1], 1)},
                }
            }
        )
    return {"level": "error", "message": _message(text), "locations": at}
