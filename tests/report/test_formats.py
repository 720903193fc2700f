from __future__ import annotations

import json
from pathlib import Path

import pytest

from exportlint.config.options import FORMATS
from exportlint.findings import Finding, Position, Severity, Span, Step
from exportlint.report import Context, render, summary
from exportlint.source import from_text

TEXT = "def forward(self, x):\n    y = x.sum()\n    if y > 0:\n        pass\n"


def span(row: int, start: int, end: int) -> Span:
    return Span(Position(row, start), Position(row, end))


FINDING = Finding(
    "EXP001",
    "syntax-error",
    Severity.ERROR,
    "`if` on `y`",
    "/project/pkg/net.py",
    span(3, 8, 13),
    symbol="Net.forward",
    trail=(
        Step("/project/pkg/net.py", span(1, 19, 20), "`x` is an input"),
        Step("/elsewhere/helper.py", span(7, 5, 6), "`y` is read from it"),
    ),
    help="use `torch.where`",
)
INFO = Finding("EXP002", "unused-suppression", Severity.INFO, "100%\nsure", "/other/a,b.py", span(1, 1, 1), cell=2)


def context(color: bool = False) -> Context:
    sources = {"/project/pkg/net.py": from_text(TEXT, Path("/project/pkg/net.py"))}
    return Context(Path("/project"), sources.get, color)


def test_full() -> None:
    assert render([FINDING, INFO], "full", context()) == (
        "error[EXP001 syntax-error]: `if` on `y`\n"
        "  --> pkg/net.py:3:8\n"
        "   |\n"
        " 1 | def forward(self, x):\n"
        " 2 |     y = x.sum()\n"
        " 3 |     if y > 0:\n"
        "   |        ^^^^^\n"
        " 4 |         pass\n"
        "   |\n"
        "   = trail: `x` is an input (pkg/net.py:1:19)\n"
        "   = trail: `y` is read from it (/elsewhere/helper.py:7:5)\n"
        "   = help: use `torch.where`\n"
        "\n"
        "info[EXP002 unused-suppression]: 100%\N{SYMBOL FOR LINE FEED}sure\n"
        "  --> /other/a,b.py:cell 2:1:1\n"
        "\n"
    )


def test_concise_and_grouped() -> None:
    heading = "error[EXP001 syntax-error]: `if` on `y`\n"
    assert render([FINDING], "concise", context()) == f"pkg/net.py:3:8: {heading}"
    again = Finding("EXP001", "syntax-error", Severity.ERROR, "more", "/project/pkg/net.py", span(12, 1, 2))
    assert render([FINDING, again, INFO], "grouped", context()) == (
        f"pkg/net.py:\n  3:8   {heading}  12:1  error[EXP001 syntax-error]: more\n\n"
        "/other/a,b.py:\n  cell 2:1:1  info[EXP002 unused-suppression]: 100%\N{SYMBOL FOR LINE FEED}sure\n\n"
    )


def test_github_escapes_what_would_end_a_command() -> None:
    assert render([INFO], "github", context()) == (
        "::notice title=exportlint (EXP002 unused-suppression),file=/other/a%2Cb.py,line=1,endLine=1::"
        "/other/a,b.py:cell 2:1:1: EXP002 unused-suppression: 100%25%0Asure\n"
    )
    several = Finding("EXP001", "syntax-error", Severity.WARNING, "m", "/a.py", Span(Position(1, 5), Position(3, 2)))
    assert ",line=1,endLine=3::" in render([several], "github", context())


def test_json_is_ascii_and_complete() -> None:
    odd = Finding("EXP001", "syntax-error", Severity.ERROR, "é\udc80", "/caf\udce9.py", span(1, 1, 2))
    text = render([FINDING, INFO, odd], "json", context())
    assert text.isascii()
    first, second, third = json.loads(text)
    assert first["trail"][1] == {
        "filename": "/elsewhere/helper.py",
        "location": {"row": 7, "column": 5},
        "end_location": {"row": 7, "column": 6},
        "message": "`y` is read from it",
        "cell": None,
    }
    assert (first["help"], first["symbol"], first["fix"]) == ("use `torch.where`", "Net.forward", None)
    assert (second["cell"], second["message"], second["filename"]) == (2, "100%\nsure", "/other/a,b.py")
    assert third["filename"] == "/caf\udce9.py"


@pytest.mark.parametrize("output_format", FORMATS)
def test_nothing_to_report(output_format: str) -> None:
    text = render([], output_format, context())
    if output_format in ("json", "gitlab"):
        assert text == "[]\n"
    elif output_format == "junit":  # without any test, a service takes the report for a failure
        assert 'tests="1" failures="0"' in text
        assert "<failure" not in text
    elif output_format in ("sarif", "rdjson"):
        (found,) = json.loads(text)["runs"] if output_format == "sarif" else [json.loads(text)]
        assert found["results" if output_format == "sarif" else "diagnostics"] == []
    else:
        assert text == ""


def test_colours_change_nothing_else() -> None:
    import re

    for output_format in ("full", "concise", "grouped"):
        colored = render([FINDING, INFO], output_format, context(color=True))
        assert "\x1b[1;31merror[EXP001 syntax-error]\x1b[0m" in colored
        assert re.sub(r"\x1b\[[\d;]*m", "", colored) == render([FINDING, INFO], output_format, context())


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ([], "All checks passed!"),
        ([FINDING], "Found 1 finding (1 error, 0 warnings, 0 infos)."),
        ([FINDING, FINDING, INFO], "Found 3 findings (2 errors, 0 warnings, 1 info)."),
    ],
)
def test_summary(findings: list[Finding], expected: str) -> None:
    assert summary(findings) == expected
