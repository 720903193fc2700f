"""JUnit's XML: a test case for each target, mode and device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from exportlint.findings import Finding
from exportlint.report.context import located
from exportlint.report.junit import as_document, as_text
from exportlint.verify.reports import MISSED, Outcome, told
from exportlint.verify.results import Run
from exportlint.verify.rulings import described, said_by
from exportlint.verify.verdicts import Sources

_Said = tuple[Finding, str, str]


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
    return as_document(root)


def _case(suite: ElementTree.Element, run: Run, place: tuple[Path, int] | None, said: Sequence[_Said]) -> None:
    module, _, name = run.target.rpartition(":")
    attributes = {
        "classname": as_text(module or run.target),
        "name": as_text(f"{name} [{run.mode}, {run.device}]"),
        "time": f"{run.seconds:.3f}",
    }
    if place is not None:
        attributes |= {"file": as_text(str(place[0])), "line": str(place[1])}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    if run.verdict != "exports":
        tag = "error" if run.verdict == "cannot be built" else "failure"
        message = {"type": run.verdict, "message": as_text(f"{run.verdict}: {run.reason}")}
        ElementTree.SubElement(case, tag, message).text = as_text("\n".join(_details(run, said)))
    if run.output:
        ElementTree.SubElement(case, "system-out").text = as_text(run.output)


def _details(run: Run, said: Sequence[_Said]) -> list[str]:
    """What raised, what disagrees, and what is said of lines of code because of it."""
    lines = [said_by(failure) for failure in run.failures]
    lines += [described(c) for c in run.comparisons if c.agreement in ("diverges", "narrower")]
    for finding, verdict, why in said:
        if verdict in ("confirmed", MISSED):
            lines.append(f"{finding.filename}:{located(finding)}: {verdict} {finding.code} {finding.name}: {why}")
    return lines
