"""The output formats for CI services, of whole projects: what is valid, and that it says what the other formats say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from tests.cli.ci_schemas import JSON
from tests.cli.projects import PROJECTS
from tests.cli.runner import NET, Run, write
from tests.schema import violations

Place = tuple[str, int, str]
"""File from the folder of the project, row of the file, code."""


def _sarif(text: str) -> list[Place]:
    (run,) = json.loads(text)["runs"]
    found = []
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        path = unquote(place["artifactLocation"]["uri"])
        found.append((path, place["region"]["startLine"], result["ruleId"]))
    return found


def _gitlab(text: str) -> list[Place]:
    issues = json.loads(text)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return [(i["location"]["path"], i["location"]["lines"]["begin"], i["check_name"][:6]) for i in issues]


def _rdjson(text: str) -> list[Place]:
    found = json.loads(text)["diagnostics"]
    return [(d["location"]["path"], d["location"]["range"]["start"]["line"], d["code"]["value"][:6]) for d in found]


def _junit(text: str) -> list[Place]:
    root = ElementTree.fromstring(text)
    assert [suite.get("failures") for suite in root] == [str(len(suite.findall(".//failure"))) for suite in root]
    assert int(root.get("tests", "")) == len(root.findall(".//testcase")) > 0
    cases = [case for case in root.iter("testcase") if case.find("failure") is not None]
    return [(case.get("file", ""), int(case.get("line", "")), case.get("name", "")[:6]) for case in cases]


def _azure(text: str) -> list[Place]:
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"##vso\[task\.logissue ((?:\w+=[^;\]]*;)+)\](.+)", line)
        assert match is not None, line
        values = dict(pair.split("=", 1) for pair in match[1].rstrip(";").split(";"))
        path = values["sourcepath"]
        for escaped, char in (("%3B", ";"), ("%5D", "]"), ("%AZP25", "%")):
            path = path.replace(escaped, char)
        found.append((path, int(values["linenumber"]), values["code"]))
    return found


def _pylint(text: str) -> list[Place]:
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"(.*):(\d+): \[(EXP\d{3})\([a-z-]+\), [^\]]*\] (.*)", line)
        assert match is not None, line
        found.append((match[1], int(match[2]), match[3]))
    return found


READERS: dict[str, Callable[[str], list[Place]]] = {
    "sarif": _sarif, "gitlab": _gitlab, "rdjson": _rdjson, "junit": _junit, "azure": _azure, "pylint": _pylint
}  # fmt: skip


@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("output_format", READERS)
def test_every_format_is_valid_and_says_the_same(output_format: str, project: str, root: Path, run: Run) -> None:
    write(root, PROJECTS[project])
    plain = run("--output-format", "json", "--show-info")
    places = [
        (Path(f["filename"]).relative_to(root).as_posix(), f["location"]["row"], f["code"]) for f in plain.findings
    ]
    if project == "a notebook":  # programs see the JSON, where the source of a cell has other rows
        json_rows = PROJECTS[project]["net.ipynb"].splitlines()
        row = next(number for number, line in enumerate(json_rows, 1) if "if x.sum() > 0" in line)
        places = [(name, row, code) for name, _, code in places]
    result = run("--output-format", output_format, "--show-info")
    assert READERS[output_format](result.out) == places
    assert bool(places) == (project != "no findings")
    assert (result.code, result.err) == (plain.code, "")
    if output_format in JSON:
        assert [*violations(json.loads(result.out), JSON[output_format], JSON[output_format])] == []


@pytest.mark.parametrize("output_format", READERS)
def test_a_format_holds_what_fixing_leaves(output_format: str, root: Path, run: Run) -> None:
    write(root, {"net.py": NET + "        return x.data\n", "more.py": NET.replace("x + 1", "x.data_ptr()")})
    expected = run("--diff", "--output-format", "full")
    assert run("--diff", "--output-format", output_format).out == expected.out
    result = run("--fix", "--output-format", output_format)
    remaining = [
        (Path(f["filename"]).name, f["location"]["row"], f["code"])
        for f in run("--output-format", "json", "--min-severity", "warning").findings
    ]
    assert READERS[output_format](result.out) == remaining != []


def _only_result(run: Run, *arguments: str) -> dict[str, Any]:
    (document,) = json.loads(run("--output-format", "sarif", *arguments).out)["runs"]
    (result,) = document["results"]
    assert isinstance(result, dict)
    return result


def test_sarif_tells_the_trail_the_fix_and_the_page(root: Path, run: Run) -> None:
    write(root, {"net.py": NET})
    (document,) = json.loads(run("--output-format", "sarif").out)["runs"]
    (result,) = document["results"]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    said = [step["location"]["message"]["text"] for step in flow["locations"]]
    assert said[0] == "`x` is an input of `Net.forward`"
    assert result["message"]["text"].startswith(said[-1])
    assert document["originalUriBaseIds"]["%SRCROOT%"]["uri"] == root.as_uri() + "/"
    (rule,) = document["tool"]["driver"]["rules"]
    assert rule["name"] == "tensor-branch"
    markdown = rule["help"]["markdown"]
    assert markdown.startswith("# tensor-branch (EXP101)")
    assert "<!-- run:" not in markdown
    assert "```python" in markdown
    (change,) = result["fixes"][0]["artifactChanges"]
    lines = NET.splitlines(keepends=True)
    for edit in reversed(change["replacements"]):
        where = edit["deletedRegion"]
        starts = [sum(map(len, lines[:row])) for row in range(len(lines) + 1)]
        start = starts[where["startLine"] - 1] + where["startColumn"] - 1
        end = starts[where["endLine"] - 1] + where["endColumn"] - 1
        text = "".join(lines)
        lines = (text[:start] + edit["insertedContent"]["text"] + text[end:]).splitlines(keepends=True)
    run("--fix")
    assert "".join(lines) == (root / "net.py").read_text()


def test_a_proposal_is_no_fix_for_a_program(root: Path, run: Run) -> None:
    write(root, {"net.ipynb": PROJECTS["a notebook"]["net.ipynb"]})
    assert "fixes" not in _only_result(run)
    found = json.loads(run("--output-format", "rdjson").out)["diagnostics"]
    assert "suggestions" not in found[0]


def test_file_names_start_from_the_repository(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {".git/HEAD": "ref: refs/heads/main\n", "sub/net.py": NET})
    monkeypatch.chdir(root / "sub")
    assert _sarif(run("--output-format", "sarif").out)[0][0] == "sub/net.py"
    assert _gitlab(run("--output-format", "gitlab").out)[0][0] == "sub/net.py"
    assert _azure(run("--output-format", "azure").out)[0][0] == "sub/net.py"
    # These are read where the command runs.
    assert _rdjson(run("--output-format", "rdjson").out)[0][0] == "net.py"
    assert _pylint(run("--output-format", "pylint").out)[0][0] == "net.py"


def test_rdjson_counts_columns_in_bytes(root: Path, run: Run) -> None:
    line = '        "𐐀é"; return x.data\n'
    write(root, {"net.py": NET[: NET.index("        if")] + line})
    (found,) = json.loads(run("--output-format", "rdjson").out)["diagnostics"]
    place = found["location"]["range"]
    data = line.encode()
    assert data[place["start"]["column"] - 1 : place["end"]["column"] - 1] == b"x.data"


def test_standard_input_has_a_report_too(root: Path, run: Run) -> None:
    for output_format, read in READERS.items():
        result = run("-", "--stdin-filename", "sub/net.py", "--output-format", output_format, stdin=NET.encode())
        assert read(result.out) == [("sub/net.py", 7, "EXP101")]


def test_a_failure_of_exportlint_is_no_success_in_sarif(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"net.py": NET})

    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("exportlint.workspace.check_file", fail)
    result = run("--output-format", "sarif", "--no-cache")
    (document,) = json.loads(result.out)["runs"]
    assert document["invocations"] == [{"executionSuccessful": False}]
    assert result.code == 2
