"""JUnit's XML: a test case for each target, mode and device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from exportlint.findings import Finding
from exportlint.report.context import located, printable
from exportlint.verify.reports import MISSED, Outcome, told
from exportlint.verify.results import Run
from exportlint.verify.rulings import described, said_by
from exportlint.verify.verdicts import Sources

_Said = tuple[Finding, str, str]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(outcome: Outcome, sources: Sources) -> str:
    """The report."""
    failed = sum(run.verdict not in ("exports", "cannot be built") for run in outcome.runs)
    broken = sum(run.verdict == "cannot be built" for run in outcome.runs)
    counts = {
        "name": "exportlint verify",
        "tests": str(len(outcome.runs)),
        "failures": str(failed),
        "errors": str(broken),
        "skipped": "0",
        "time": f"{outcome.seconds:.3f}",
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", counts)
    said = told(outcome, sources)
    for run in outcome.runs:
        _case(suite, run, outcome.place(run), [(f, verdict, why) for f, verdict, why, by in said if by is run])
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _case(suite: ElementTree.Element, run: Run, place: tuple[Path, int] | None, said: Sequence[_Said]) -> None:
    module, _, name = run.target.rpartition(":")
    attributes = {
        "classname": _xml(module or run.target),
        "name": _xml(f"{name} [{run.mode}, {run.device}]"),
        "time": f"{run.seconds:.3f}",
    }
    if place is not None:
        attributes |= {"file": _xml(str(place[0])), "line": str(place[1])}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    if run.verdict != "exports":
        tag = "error" if run.verdict == "cannot be built" else "failure"
        message = {"type": run.verdict, "message": _xml(f"{run.verdict}: {run.reason}")}
        ElementTree.SubElement(case, tag, message).text = _xml("\n".join(_details(run, said)))
    if run.output:
        ElementTree.SubElement(case, "system-out").text = _xml(run.output)


def _details(run: Run, said: Sequence[_Said]) -> list[str]:
    """What raised, what disagrees, and what is said of lines of code because of it."""
    lines = [said_by(failure) for failure in run.failures]
    lines += [described(c) for c in run.comparisons if c.agreement in ("diverges", "narrower")]
    for finding, verdict, why in said:
        if verdict in ("confirmed", MISSED):
            lines.append(f"{finding.filename}:{located(finding)}: {verdict} {finding.code} {finding.name}: {why}")
    return lines


def _xml(text: str) -> str:
    lines = "\n".join(map(printable, text.split("\n")))
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", lines)
