"""Reports of verify, each read as its readers read it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from exportlint.report import Context
from exportlint.verify.linting import Linted
from exportlint.verify.reports import FORMATS, Outcome, html, render
from exportlint.verify.reports.text import Printer, listing, summary
from exportlint.verify.target import Script
from exportlint.verify.task import MAX_MEETINGS
from tests.patience import PATIENCE
from tests.verify.outcomes import HOSTILE, outcome

VERDICTS = {
    ("tensor-branch", 10, "confirmed"),
    ("size-branch", 17, "refuted"),
    ("host-random", 19, "confirmed"),
    ("AttributeError", 12, "missed"),
}
"""What is said of which line; that of line 24 is ignored in the code, so nobody says anything of it."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Linted]:
    return outcome(tmp_path_factory.mktemp("shop"))


def printed(made: tuple[Outcome, Linted], *, concise: bool, show_output: bool = False) -> list[str]:
    outcome, linted = made
    context = Context(outcome.root, linted.source)
    printer = Printer(outcome.targets, context, concise=concise, show_output=show_output)
    return [printer.run(run, linted.judge([run], [outcome.targets[0].place[0]])) for run in outcome.runs]


def test_text_has_a_line_for_each_run_and_the_findings_below(made: tuple[Outcome, Linted]) -> None:
    gate, noise, fine, slow = printed(made, concise=False)
    lines = gate.splitlines()
    assert lines[0].split()[:6] == ["shop.models:Gate", "fails", "non-strict", "cpu", "1.2", "s"]
    assert "error[EXP101 tensor-branch]: `if` on tensor data: torch.export cannot know which branch to take" in lines
    assert "   --> mo&dels.py:10:12" in lines
    assert any(line.startswith("    = confirmed: export raises here: GuardOnDataDependentSymNode") for line in lines)
    assert (
        "error[missed AttributeError]: found by draft_export only: 'Tensor' object has no attribute 'unknown'" in lines
    )
    assert " 12 +         torch._check(u0 >= 0)" in lines
    assert "    = or: torch._check(u0 < 0)" in lines
    assert "note: This is a proposal and is never applied" in lines
    assert "    = refuted: the line ran, and program and model agree: size" in noise.splitlines()
    assert "torch.cond" not in noise.partition("host-random")[0]  # nothing is to be mended of what is refuted
    assert len(fine.splitlines()) == len(slow.splitlines()) == 1


def test_a_call_that_may_meet_further_models_says_that_they_are_left_out(made: tuple[Outcome, Linted]) -> None:
    whole, linted = made
    target, run = whole.targets[0], whole.runs[-1]
    file = target.place[0]
    calls = [
        replace(target, name=name, inputs=Script(file, 6, meeting=meeting))
        for name, meeting in {"a:6": 1, "a:6, model 8": MAX_MEETINGS, "a:16, model 8": MAX_MEETINGS}.items()
    ]
    runs = [replace(run, target=call.name, again=call is not calls[-1]) for call in calls]
    printer = Printer(calls[:1], Context(whole.root, linted.source), concise=True, show_output=False)
    for call in calls[1:]:
        printer.add(call)
    none = linted.judge([], [])
    first, last, last_of_all = (printer.run(run, none).splitlines() for run in runs)
    assert last[1:] == ["    the first 8 models of this call are verified, others that it may meet are not"]
    assert len(first) == len(last_of_all) == 1
    assert first[0].index("times out") == last[0].index("times out")
    report = json.loads(render(replace(whole, targets=calls, runs=runs), "json", linted.source))
    assert [run["models_left_out"] for run in report["runs"]] == [False, True, False]


def test_concise_text_has_a_line_for_each_finding(made: tuple[Outcome, Linted]) -> None:
    gate, noise, *_ = printed(made, concise=True)
    assert [line.split(": ")[:2] for line in gate.splitlines()[1:]] == [
        ["  mo&dels.py:10:12", "confirmed error[EXP101 tensor-branch]"],
        ["  mo&dels.py:12:9", "error[missed AttributeError]"],
    ]
    assert "  mo&dels.py:17:12: refuted warning[EXP401 size-branch]: the line ran" in noise


def test_a_finding_is_shown_in_full_once(made: tuple[Outcome, Linted]) -> None:
    outcome, linted = made
    printer = Printer(outcome.targets, Context(outcome.root, linted.source), concise=False, show_output=False)
    judgement = linted.judge(outcome.runs[:1], [])
    first, second = (printer.run(outcome.runs[0], judgement) for _ in range(2))
    assert "-->" in first
    assert "-->" not in second
    assert "mo&dels.py:10:12: confirmed error[EXP101 tensor-branch]: export raises here" in second


def test_terminals_obey_nothing(made: tuple[Outcome, Linted]) -> None:
    text = "".join(printed(made, concise=False, show_output=True))
    assert "    | hello" in text
    assert "\x1b" not in text
    assert "\x00" not in text


def test_summary(made: tuple[Outcome, Linted]) -> None:
    assert summary(made[0]).splitlines() == [
        "Verified 4 targets in 14.0 s: 2 fail, 1 diverges, 1 times out.",
        "Findings: 2 confirmed, 1 refuted, 1 missed.",
        "1 more module cannot be verified; `--list` says why.",
    ]
    empty = Outcome(Path(), (), (), made[0].judgement)
    assert summary(empty).startswith("Verified 0 targets in 0.0 s")


def test_listing(made: tuple[Outcome, Linted]) -> None:
    outcome, linted = made
    lines = listing(outcome.targets, outcome.unbuildable, Context(outcome.root, linted.source)).splitlines()
    assert lines[0].split() == ["shop.models:Gate", "mo&dels.py:6", "non-strict", "cpu", "inferred"]
    assert lines[-1] == "shop.models:Loader  mo&dels.py:1  the constructor needs `path`"
    assert listing((), (), Context(outcome.root, linted.source)) == ""


def test_json_has_everything(made: tuple[Outcome, Linted]) -> None:
    outcome, linted = made
    document = json.loads(render(outcome, "json", linted.source))
    assert {(f["name"], f["location"]["row"], f["verdict"]) for f in document["findings"]} == VERDICTS
    assert [(r["target"], r["verdict"]) for r in document["runs"]] == [(r.target, r.verdict) for r in outcome.runs]
    assert [c["difference"] for c in document["runs"][1]["comparisons"]] == [1e-7, 0.8, 0.0, None]  # NaN is no JSON
    assert document["runs"][0]["failures"][0]["frames"] == [
        {"filename": str(outcome.targets[0].place[0]), "row": 10, "function": "forward"}
    ]
    assert document["runs"][0]["output"] == outcome.runs[0].output
    assert {f["run"] for f in document["findings"]} == {0, 1}
    assert document["counts"] == {"confirmed": 2, "refuted": 1, "not reached": 0, "missed": 1}
    assert document["agrees"] is False
    assert document["unbuildable"][0]["reason"] == "the constructor needs `path`"


def test_every_key_is_documented(made: tuple[Outcome, Linted]) -> None:
    outcome, linted = made
    document = json.loads(render(outcome, "json", linted.source))
    text = (Path(__file__).parents[2] / "docs" / "verify.md").read_text(encoding="utf-8")
    for heading, keys in (("| key |", document.keys()), ("| key of a run |", document["runs"][0].keys())):
        table = text.partition(heading)[2].partition("\n\n")[0].splitlines()[2:]
        assert {key for row in table for key in re.findall(r"`(\w+)`", row.split("|")[1])} == keys


def test_sarif_is_what_its_schema_requires(made: tuple[Outcome, Linted]) -> None:
    outcome, linted = made
    document = json.loads(render(outcome, "sarif", linted.source))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "exportlint"
    rules = driver["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["level"] == "none" or "kind" not in result
        assert _is_location(result["locations"][0])
        assert all(_is_location(place) and place["message"]["text"] for place in result.get("relatedLocations", ()))
    said = {(r["ruleId"], r["properties"]["verdict"], r["level"]) for r in run["results"]}
    assert said == {
        ("EXP101", "confirmed", "error"),
        ("EXP401", "refuted", "none"),
        ("EXP502", "confirmed", "warning"),
        ("missed/AttributeError", "missed", "error"),
    }
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "mo%26dels.py",
        "uriBaseId": "%SRCROOT%",
    }
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is True
    assert [n["message"]["text"] for n in invocation["toolExecutionNotifications"]] == [
        "shop.models:Slow (non-strict, cpu) times out: in export, after 300 s"
    ]


def _is_location(location: dict[str, Any]) -> bool:
    region = location["physicalLocation"]["region"]
    return set(location["physicalLocation"]["artifactLocation"]) <= {"uri", "uriBaseId"} and (
        1 <= region["startLine"] <= region["endLine"] and region["startColumn"] >= 1
    )


def test_junit_has_a_case_for_each_run(made: tuple[Outcome, Linted]) -> None:
    outcome, linted = made
    root = ElementTree.fromstring(render(outcome, "junit", linted.source))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "4", "0")
    cases = root.findall("testsuite/testcase")
    assert [(c.get("classname"), c.get("name")) for c in cases] == [
        ("shop.models", f"{name} [non-strict, cpu]") for name in ("Gate", "Noise", "Fine", "Slow")
    ]
    failure = cases[0].find("failure")
    assert failure is not None
    assert failure.get("type") == "fails"
    assert failure.text is not None
    assert "mo&dels.py:10:12: confirmed EXP101 tensor-branch" in failure.text
    assert cases[0].findtext("system-out", "").startswith("hello\n</script>")


class _Page(HTMLParser):
    """What of a page a browser would run or load, and what it shows."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts = 0
        self.bad: list[str] = []
        self.shown: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        self.scripts += tag == "script"
        self.bad += [f"{tag} {name}" for name in held if name in ("src", "style", "srcset") or name.startswith("on")]
        self.bad += [tag] if tag in ("img", "link", "iframe", "object") else []
        self.ids += [held["id"] or ""] if "id" in held else []
        if tag == "a" and (target := held.get("href") or "").startswith("#"):
            self.targets.append(target[1:])
        if tag not in ("meta", "input", "br", "line", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.shown.append(data)


def test_the_page_is_whole_and_runs_nothing_of_the_project(made: tuple[Outcome, Linted]) -> None:
    outcome, linted = made
    page = _Page()
    page.feed(html.render(outcome, linted.source))
    page.close()
    assert page.open == []
    assert page.scripts == 1
    assert page.bad == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.targets) <= set(page.ids)
    shown = "".join(page.shown)
    assert HOSTILE.partition("\x1b")[0] in shown
    for words in ("shop.models:Noise", "times out", "EXP101 tensor-branch", "again, second call", "mo&dels.py"):
        assert words in shown


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium here")
def test_a_browser_shows_the_page(made: tuple[Outcome, Linted], tmp_path: Path) -> None:
    """Its script runs, so its own policy lets it, and the code has the marks of lines that ran."""
    outcome, linted = made
    text = html.render(outcome, linted.source)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=2000"]
    result = subprocess.run(
        [*command, f"--user-data-dir={tmp_path}/profile", f"{(tmp_path / 'page.html').as_uri()}#hide=refuted"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert result.stdout.count('class="ran"') == 7
    assert 'data-verdict="refuted" hidden' in result.stdout
    assert 'data-verdict="confirmed" hidden' not in result.stdout
    assert "alert(1)&lt;/script&gt;" in result.stdout


def test_formats_are_those_of_the_flag() -> None:
    from exportlint.cli.parser import parse

    assert [parse(["verify", "--output-format", name]).report_format for name in FORMATS] == list(FORMATS)
