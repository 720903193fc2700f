"""What a report shows of fixes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from exportlint.findings import Applicability, Edit, Finding, Fix, Position, Severity, Span
from exportlint.report import Context, render, statistics
from exportlint.source import from_text

NAME = "/project/net.py"


def at(row: int, start: int, end_row: int, end: int, content: str) -> Edit:
    return Edit(Span(Position(row, start), Position(end_row, end)), content)


def finding(*edits: Edit, applicability: Applicability = Applicability.SAFE) -> Finding:
    fix = Fix(applicability, "Do it", edits)
    span = Span(edits[0].span.start, edits[0].span.start)
    return Finding("EXP301", "tensor-data", Severity.ERROR, "message", NAME, span, fix=fix)


def context(text: str, most: Applicability = Applicability.SAFE) -> Context:
    return Context(Path("/project"), {NAME: from_text(text, Path(NAME))}.get, most=most)


def shown(text: str, *edits: Edit, applicability: Applicability = Applicability.SAFE) -> str:
    """What `full` prints of a fix."""
    report = render([finding(*edits, applicability=applicability)], "full", context(text))
    return report.partition("help: ")[2].rstrip("\n")


ROWS = "".join(f"row {row}\n" for row in range(1, 13))


@pytest.mark.parametrize(
    ("text", "edits", "expected"),
    [
        ("a\nb = 1\nc\n", [at(2, 5, 2, 6, "2")], ["   |", " 1 | a", "   - b = 1", " 2 + b = 2", " 3 | c", "   |"]),
        ("a\r\nb = 1\r\n", [at(2, 5, 2, 6, "2")], ["   |", " 1 | a", "   - b = 1", " 2 + b = 2", " 3 |", "   |"]),
        ("a", [at(1, 1, 1, 2, "b")], ["   |", "   - a", " 1 + b", "   |"]),
        ("a\nb\nc\n", [at(2, 1, 3, 1, "")], ["   |", " 1 | a", "   - b", " 2 | c", "   |"]),
        ("a\nb\n", [at(2, 1, 2, 1, "new\n")], ["   |", " 1 | a", " 2 + new", " 3 | b", "   |"]),
        # Changes that are far apart, with the numbers of the file as it is to be.
        (
            ROWS,
            [at(1, 1, 1, 1, "import torch\n"), at(11, 5, 11, 7, "11!")],
            [
                "    |",
                "  1 + import torch",
                "  2 | row 1",
                " ...",
                " 11 | row 10",
                "    - row 11",
                " 12 + row 11!",
                " 13 | row 12",
                "    |",
            ],
        ),
        (
            ROWS,
            [at(3, 1, 4, 1, ""), at(9, 1, 9, 2, "R")],
            [
                " " * 3 + "|",
                " 2 | row 2",
                "   - row 3",
                " 3 | row 4",
                " ...",
                " 7 | row 8",
                "   - row 9",
                " 8 + Row 9",
                " 9 | row 10",
                "   |",
            ],
        ),
        (
            "x = '\x1b[31m'\n",
            [at(1, 1, 1, 2, "\u202ey")],
            ["   |", "   - x = '␛[31m'", " 1 + \ufffdy = '␛[31m'", " 2 |", "   |"],
        ),
        ("\tx\n", [at(1, 2, 1, 3, "y")], ["   |", "   -     x", " 1 +     y", " 2 |", "   |"]),
    ],
)
def test_the_change_under_a_finding(text: str, edits: list[Edit], expected: list[str]) -> None:
    assert shown(text, *edits).splitlines() == ["Do it", *expected]


def test_what_changes_in_a_long_line_shows() -> None:
    line = "x" * 500 + " = 1"
    report = shown(line, at(1, 504, 1, 505, "2")).splitlines()
    assert [row.endswith(end) for row, end in zip(report[2:4], (" = 1", " = 2"), strict=True)] == [True, True]


def test_a_fix_that_may_change_something_says_so() -> None:
    edit = at(1, 1, 1, 2, "b")
    assert "note:" not in shown("a\n", edit)
    unsafe = shown("a\n", edit, applicability=Applicability.UNSAFE)
    assert unsafe.endswith("\nnote: This is an unsafe fix and may change runtime behavior (`exportlint rule EXP301`)")
    proposal = shown("a\n", edit, applicability=Applicability.DISPLAY_ONLY)
    assert proposal.endswith("\nnote: This is a proposal and is never applied")


def test_why_a_fix_is_not_applied_is_said() -> None:
    found = finding(at(1, 1, 1, 2, "b"))
    assert found.fix is not None
    held = replace(found, fix=replace(found.fix, obstacle="the finding would remain"), help="write c")
    report = render([held], "full", context("a\n"))
    assert "[*]" not in report
    assert "= help: write c\nnote: fix not applied: the finding would remain\n" in report
    (shown,) = json.loads(render([held], "json", context("a\n")))
    assert shown["fix"]["obstacle"] == "the finding would remain"


def test_why_there_is_no_fix_is_said_where_others_were_fixed() -> None:
    found = replace(finding(at(1, 1, 1, 2, "b")), fix=None, declined="its sizes are those of the inputs")
    assert "no fix" not in render([found], "full", context("a\n"))
    report = render([found], "full", replace(context("a\n"), fixing=True))
    assert report.rstrip().endswith("\nnote: no fix: its sizes are those of the inputs")


def test_help_is_not_said_twice() -> None:
    found = finding(at(1, 1, 1, 2, "b"))
    assert "= help: other" in render([replace(found, help="other")], "full", context("a\n"))
    assert "= help:" not in render([replace(found, help="do it")], "full", context("a\n"))


@pytest.mark.parametrize("output_format", ["full", "concise", "grouped"])
@pytest.mark.parametrize("applicability", Applicability)
@pytest.mark.parametrize("most", [Applicability.SAFE, Applicability.UNSAFE])
def test_what_would_be_applied_is_marked(output_format: str, applicability: Applicability, most: Applicability) -> None:
    report = render([finding(at(1, 1, 1, 2, "b"), applicability=applicability)], output_format, context("a\n", most))
    assert ("error[EXP301 tensor-data]: [*] message" in report) == (applicability.rank <= most.rank)


def test_json() -> None:
    unsafe = finding(at(1, 1, 2, 3, "b\n"), applicability=Applicability.UNSAFE)
    (shown,) = json.loads(render([unsafe], "json", context("a\n")))
    assert shown["fix"] == {
        "applicability": "unsafe",
        "message": "Do it",
        "obstacle": None,
        "edits": [
            {
                "location": {"row": 1, "column": 1},
                "end_location": {"row": 2, "column": 3},
                "content": "b\n",
                "cell": None,
            }
        ],
    }


def test_statistics() -> None:
    safe, unsafe = (finding(at(1, 1, 1, 2, "b"), applicability=a) for a in (Applicability.SAFE, Applicability.UNSAFE))
    none = replace(safe, code="EXP101", name="tensor-branch", fix=None)
    found = [safe, safe, unsafe, none]
    assert statistics.render(found, "full", context("a\n")) == (
        "3\t[-]\terror\tEXP301\ttensor-data\n1\t[ ]\terror\tEXP101\ttensor-branch\n"
    )
    assert "3\t[*]\terror" in statistics.render(found, "full", context("a\n", Applicability.UNSAFE))
    assert statistics.render([none], "full", context("a\n")) == "1\terror\tEXP101\ttensor-branch\n"
    first, second = json.loads(statistics.render(found, "json", context("a\n")))
    assert (first["fixable_count"], second["fixable_count"]) == (2, 0)
