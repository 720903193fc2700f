"""JUnit's XML, which every CI service shows: a suite for each file, and in it a failed test case for each finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from exportlint.findings import Finding
from exportlint.report.context import Context, located, printable
from exportlint.report.paths import portable
from exportlint.report.regions import region

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report. Without findings it holds one test that passed, for a report without tests counts as a failure."""
    root = ElementTree.Element("testsuites", _counts("exportlint", len(findings)))
    for filename, group in groupby(findings, key=lambda finding: finding.filename):
        found = list(group)
        name = portable(filename, context.root or context.cwd)
        suite = ElementTree.SubElement(root, "testsuite", _counts(name, len(found)))
        for finding in found:
            _case(suite, finding, name, context)
    if not findings:
        passed = {**_counts("exportlint", 0), "tests": "1"}
        root.set("tests", "1")
        suite = ElementTree.SubElement(root, "testsuite", passed)
        ElementTree.SubElement(suite, "testcase", {"name": "no findings", "classname": "exportlint", "time": "0"})
    return as_document(root)


def _counts(name: str, number: int) -> dict[str, str]:
    return {
        "name": as_text(name),
        "tests": str(number),
        "failures": str(number),
        "errors": "0",
        "skipped": "0",
        "time": "0",
    }


def _case(suite: ElementTree.Element, finding: Finding, name: str, context: Context) -> None:
    attributes = {
        "name": as_text(f"{finding.code} {finding.name} at {located(finding)}"),
        "classname": as_text(name),
        "file": as_text(name),
        "line": str(region(finding, context).start_row),
        "time": "0",
    }
    case = ElementTree.SubElement(suite, "testcase", attributes)
    said = {"type": finding.severity.value, "message": as_text(finding.message)}
    steps = [f"{context.shown(step.filename)}:{located(step)}: {step.message}" for step in finding.trail]
    lines = [f"{context.shown(finding.filename)}:{located(finding)}: {finding.message}", *steps]
    lines += [f"help: {finding.help}"] if finding.help else []
    ElementTree.SubElement(case, "failure", said).text = "\n".join(as_text(printable(line)) for line in lines)


def as_document(root: ElementTree.Element) -> str:
    """The text of a document."""
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def as_text(text: str) -> str:
    """`text`, which others wrote, as XML can hold it, with nothing in it that a terminal or a CI service obeys."""
    lines = "\n".join(map(printable, text.split("\n")))
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", lines)
