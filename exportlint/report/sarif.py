"""SARIF 2.1.0, which code hosts and editors show in the code: with pages of rules, trails, fixes and fingerprints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from exportlint import __version__
from exportlint.findings import Applicability, Finding, Fix, Severity, Step
from exportlint.pages import Page
from exportlint.registry import HOME, Rule, family_of, find_rule, page
from exportlint.report.context import Context
from exportlint.report.json_ import dumped
from exportlint.report.paths import folder_uri, uri
from exportlint.report.regions import Region, region, region_of
from exportlint.report.rule_page import readable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
FINGERPRINT = "exportlint/v1"
"""What the fingerprints are called; others, made in another way, would have another number."""

_INTERNAL_ERROR = "EXP004"
_LINK = re.compile(r"\[([^\[\]]*)\](?=\()")
_ANCHORS = re.compile(r"\\?\[([^\[\]]*)\\?\]\(([^)\s]*)\)")


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report: a result a line, so that a file of thousands of them can be searched and compared."""
    rules = {finding.code: finding.name for finding in sorted(findings, key=lambda finding: finding.code)}
    order = {code: index for index, code in enumerate(rules)}
    root = context.root or context.cwd
    run = {
        "tool": {"driver": driver([_rule(code, name) for code, name in rules.items()])},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": folder_uri(root)}},
        "invocations": [{"executionSuccessful": all(finding.code != _INTERNAL_ERROR for finding in findings)}],
    }
    head = f'{{"$schema":{dumped(SCHEMA)},"version":"2.1.0","runs":[{dumped(run)[:-1]},"results":['
    results = (dumped(_result(finding, order[finding.code], root, context)) for finding in findings)
    return head + ",".join(f"\n{result}" for result in results) + "\n]}]}\n"


def driver(rules: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What SARIF says of the tool."""
    return {"name": "exportlint", "version": __version__, "informationUri": HOME, "rules": rules}


def artifact(filename: str, root: PurePath) -> dict[str, str]:
    """The location of a file."""
    named, is_relative = uri(filename, root)
    return {"uri": named, "uriBaseId": "%SRCROOT%"} if is_relative else {"uri": named}


def message(text: str) -> dict[str, str]:
    """A plain message: what a viewer would make a link, `[text](target)`, stays text."""
    return {"text": _LINK.sub(r"\\[\1\\]", text)}


def bounds(place: Region) -> dict[str, int]:
    """A region, in rows and, where there are any, columns."""
    rows = {"startLine": place.start_row, "endLine": place.end_row}
    if place.start_column is None or place.end_column is None:
        return rows
    return rows | {"startColumn": place.start_column, "endColumn": place.end_column}


def _rule(code: str, name: str) -> dict[str, Any]:
    rule = find_rule(code)
    if rule is None:
        return {"id": code, "name": name}
    described: dict[str, Any] = {
        "id": code,
        "name": name,
        "helpUri": rule.url,
        "properties": {"tags": ["torch.export", family_of(rule).name]},
    }
    return described | _help(rule)


def _help(rule: Rule) -> dict[str, Any]:
    try:
        text = readable(rule)
        what = Page(rule.page_name, page(rule)).summary
    except FileNotFoundError:  # what is found can be told without it
        return {}
    return {
        "shortDescription": {"text": _ANCHORS.sub(r"\1", what)},
        "fullDescription": {"text": _ANCHORS.sub(r"\1", what)},
        "help": {"text": f"{what}\n\n{rule.url}", "markdown": text},
    }


def _result(finding: Finding, index: int, root: PurePath, context: Context) -> dict[str, Any]:
    place = _location(finding, root, context)
    if finding.symbol:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.symbol, "kind": "function"}]
    properties: dict[str, Any] = {"mode": finding.mode}
    if finding.cell is not None:
        properties["cell"] = finding.cell
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": message(finding.message if finding.help is None else f"{finding.message}\n{finding.help}"),
        "locations": [place],
        "properties": properties,
    }
    if finding.fingerprint:
        result["partialFingerprints"] = {FINGERPRINT: finding.fingerprint}
    if finding.trail:
        steps = [*(_step(step, root, context) for step in finding.trail), _end(finding, place)]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding.fix is not None and (changed := list(_replacements(finding.fix, finding, context))):
        change = {"artifactLocation": artifact(finding.filename, root), "replacements": changed}
        note = "" if finding.fix.applicability is Applicability.SAFE else " (unsafe: may change what the code does)"
        described = message(finding.fix.message + note)
        result["fixes"] = [{"description": described, "artifactChanges": [change]}]
    return result


def _location(place: Finding | Step, root: PurePath, context: Context) -> dict[str, Any]:
    held = bounds(region(place, context))
    return {"physicalLocation": {"artifactLocation": artifact(place.filename, root), "region": held}}


def _step(step: Step, root: PurePath, context: Context) -> dict[str, Any]:
    importance = "important" if step.changes else "unimportant"
    said = {**_location(step, root, context), "message": message(step.message)}
    return {"location": said, "importance": importance}


def _end(finding: Finding, place: dict[str, Any]) -> dict[str, Any]:
    said = {"physicalLocation": place["physicalLocation"], "message": message(finding.message)}
    return {"location": said, "importance": "essential"}


def _replacements(fix: Fix, finding: Finding, context: Context) -> Iterator[dict[str, Any]]:
    """The edits of a fix that somebody can apply; none in a notebook, whose JSON is not the code."""
    if not is_offered(fix):
        return
    for edit in fix.edits:
        place = region_of(finding.filename, edit.span, edit.cell, context)
        yield {"deletedRegion": bounds(place), "insertedContent": {"text": edit.content}}


def is_offered(fix: Fix) -> bool:
    """Whether a program may offer a fix: a proposal is for people, and so is what fixing found not to hold."""
    is_in_a_notebook = any(edit.cell is not None for edit in fix.edits)
    return not (is_in_a_notebook or fix.obstacle or fix.applicability is Applicability.DISPLAY_ONLY)
