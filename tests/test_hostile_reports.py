"""No report obeys what a file name, a message or the output of a model says, and each survives it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest

from exportlint.config import Configuration
from exportlint.config.options import FORMATS
from exportlint.findings import Applicability, Edit, Finding, Fix, Position, Severity, Span, Step
from exportlint.report import Context, render
from exportlint.source import from_text
from exportlint.verify import reports
from exportlint.verify.linting import Linted
from exportlint.verify.reports import Outcome, html
from exportlint.verify.reports.text import Printer, listing, summary
from exportlint.verify.verdicts import Surprise
from tests.cli.runner import NET
from tests.forking import python
from tests.sampling import each_value, one_in
from tests.verify import outcomes

PIECES = {
    "nothing": "plain",
    "line ends": "a\nb\r\nc\rd",
    "a command": "::error file=x::y",
    "a command on the next line": "a\n::stop-commands::t\n\n  ::add-mask::b",
    "a command set in": " \t ::warning::x",
    "an old command": "a ##[add-mask]b",
    "a command of Azure Pipelines": "a ##vso[task.setvariable variable=x]b",
    "a command of TeamCity": "a ##teamcity[setParameter name='x']",
    "the end of CDATA": "]]>",
    "tags": "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>",
    "entities": "&lt;script&gt;&#60;b&#62;",
    "a colour": "\x1b[31mred\x1b[0m",
    "a title": "\x1b]0;owned\x07",
    "a colour in C1": "\x9b31m\x9d0;t\x9c\x90",
    "going back": "a\x08\x08\x7f\x0eb",
    "another direction": "\u202eyp.\u2066",
    "other line ends": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "bytes that are not UTF-8": "caf\udce9\udc9b31m",
    "no characters": "a\ufffe\uffff\ud800",
    "a link": "[x](https://attacker.example) ![x](https://attacker.example)",
    "quotes": "\"'`",
    "escapes": "%0A%3A%3A%25\\u001b\\",
}

VERIFY_FORMATS = (*reports.FORMATS, "listing", "html")


def is_inert(text: str) -> None:
    """Nothing in it is obeyed by a terminal, or by GitHub Actions, which reads each line of a log."""
    written = text.encode("utf-8", "backslashreplace").decode()
    controls = {char for char in written if unicodedata.category(char) in ("Cc", "Zl", "Zp")}
    assert controls <= {"\n", "\t"}
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(written)


def is_no_command(text: str) -> None:
    for line in text.split("\n"):
        assert not line.lstrip().startswith("::"), line
        assert re.search(r"##\w*\[", line) is None


def _span(row: int) -> Span:
    return Span(Position(row, 1), Position(row, 2))


def _findings(piece: str) -> list[Finding]:
    filename = f"/project/{piece}"
    fix = Fix(Applicability.SAFE, f"{piece}fix", (Edit(_span(2), re.sub("[\r\n]", " ", piece)),))
    step = Step(filename, _span(1), f"{piece}step")
    first = Finding(
        "EXP001", "syntax-error", Severity.ERROR, piece, filename, _span(2), piece, trail=(step,), help=piece, fix=fix
    )
    return [first, Finding("EXP002", "unused-suppression", Severity.INFO, f"-{piece}", f"{filename}2", _span(1))]


def _checked(piece: str, output_format: str) -> str:
    code = "".join(f"{line}\n" for line in ("first", " ".join(re.split("[\r\n]+", f"# {piece}")), "last"))
    source = from_text(code, Path("/project/net.py"))
    return render(_findings(piece), output_format, Context(Path("/project"), lambda _filename: source))


def _lines_as_ever(text: str, output_format: str) -> None:
    """As many lines as for a harmless name."""
    is_no_command(text)
    assert len(text.splitlines()) == len(_checked("plain", output_format).splitlines())


def _objects(text: str, found: list[dict[str, Any]], piece: str) -> None:
    is_no_command(text)
    first = found[0]
    held = first["filename"], first["message"], first["help"], first["symbol"], first["trail"][0]["message"]
    assert held == (f"/project/{piece}", piece, piece, piece, f"{piece}step")


def _commands(text: str, piece: str) -> None:
    """One command a line, and it is ours; what it says is what was found, but for what a terminal would obey."""
    lines = text.split("\n")
    assert lines.pop() == ""
    assert len(lines) == 2
    for line, level, file in zip(lines, ("error", "notice"), (f"/project/{piece}", f"/project/{piece}2"), strict=True):
        found = re.fullmatch(rf"::{level} title=exportlint \([\w -]+\),file=([^:,]*)((?:,\w+=\d+)*)::(.*)", line)
        assert found is not None, line
        if file.isprintable():
            assert _unescaped(found[1]) == file
            assert _unescaped(found[3]).endswith(f"{piece}")


def _unescaped(text: str) -> str:
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def _path(name: str) -> str:
    return PurePosixPath(name).as_posix()


def _azure(text: str, piece: str) -> None:
    """One command a line, and it is ours."""
    lines = text.split("\n")
    assert lines.pop() == ""
    for line, suffix in zip(lines, ("", "2"), strict=True):
        found = re.fullmatch(r"##vso\[task\.logissue ((?:\w+=[^;\]]*;)+)\](.*)", line)
        assert found is not None, line
        is_no_command(found[2])
        name = re.search("sourcepath=([^;]*);", found[1])
        assert name is not None
        if piece.isprintable() and "##" not in piece and "::" not in piece:
            unescaped = name[1].replace("%3B", ";").replace("%5D", "]").replace("%0D", "\r").replace("%0A", "\n")
            assert unescaped.replace("%AZP25", "%") == _path(f"{piece}{suffix}")


def _sarif_of_check(text: str, piece: str) -> None:
    is_no_command(text)
    (run,) = json.loads(text)["runs"]
    first = run["results"][0]
    name = first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote_to_bytes(name) == _data(_path(piece))
    (flow,) = first["codeFlows"][0]["threadFlows"]
    said = [first["message"]["text"], flow["locations"][0]["location"]["message"]["text"]]
    assert not any(re.search(r"(?<!\\)\]\(", one) for one in said)
    if "](" not in piece:
        assert said == [f"{piece}\n{piece}", f"{piece}step"]


def _data(name: str) -> bytes:
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")


def _gitlab(text: str, piece: str) -> None:
    is_no_command(text)
    first = json.loads(text)[0]
    assert (first["description"], first["location"]["path"]) == (piece, _path(piece))


def _rdjson(text: str, piece: str) -> None:
    is_no_command(text)
    first = json.loads(text)["diagnostics"][0]
    assert (first["message"], first["location"]["path"]) == (f"{piece}\n{piece}", _path(piece))


def _junit(text: str, piece: str) -> None:
    is_no_command(text)
    cases = ElementTree.fromstring(text).findall("./testsuite/testcase")
    assert [len(case) for case in cases] == [1, 1]
    assert not any(len(failure) for case in cases for failure in case)
    if piece.isprintable() and "::" not in piece and "##" not in piece:
        assert cases[0].get("file") == _path(piece)


CHECKS: dict[str, Callable[[str, str], None]] = {
    "full": lambda text, _: _lines_as_ever(text, "full"),
    "concise": lambda text, _: _lines_as_ever(text, "concise"),
    "grouped": lambda text, _: _lines_as_ever(text, "grouped"),
    "json": lambda text, piece: _objects(text, json.loads(text), piece),
    "jsonl": lambda text, piece: _objects(text, [*map(json.loads, text.splitlines())], piece),
    "github": _commands,
    "gitlab": _gitlab,
    "azure": _azure,
    "sarif": _sarif_of_check,
    "junit": _junit,
    "rdjson": _rdjson,
    "pylint": lambda text, _: _lines_as_ever(text, "pylint"),
}


@pytest.mark.parametrize("piece", PIECES.values(), ids=list(PIECES))
@pytest.mark.parametrize("output_format", FORMATS)
def test_a_report_of_check_obeys_nobody(output_format: str, piece: str) -> None:
    text = _checked(piece, output_format)
    is_inert(text)
    CHECKS[output_format](text, piece)


def _outcome(piece: str, directory: Path) -> tuple[Outcome, Linted]:
    """A project whose file, model, errors and output are called and say `piece`."""
    file = directory / f"{piece[:40]}.py".replace("/", "|")
    try:
        file.write_text(outcomes.MODEL, encoding="utf-8")
    except UnicodeEncodeError:  # half of a pair is not the name of a file here, as bytes may be
        file = directory / "other.py"
        file.write_text(outcomes.MODEL, encoding="utf-8")
    linted = Linted(Configuration(directory, isolated=True))
    names = {run.target: f"{piece}:{number}" for number, run in enumerate(outcomes.runs(file))}
    runs = [
        replace(
            run,
            target=names[run.target],
            reason=piece,
            output=f"{piece}\n{piece}",
            inputs=(piece,),
            versions={"torch": piece},
            failures=tuple(
                replace(one, type=piece, message=piece, hints=(piece.replace("\n", " "),)) for one in run.failures
            ),
            comparisons=tuple(replace(one, label=piece, detail=piece) for one in run.comparisons),
        )
        for run in outcomes.runs(file)
    ]
    targets = [replace(target, name=names[target.name]) for target in outcomes.targets(file)]
    judgement = linted.judge(runs, [file])
    missed = tuple(Surprise(one, Severity.ERROR, None, piece, piece) for one in runs[:1])
    judgement = replace(judgement, missed=(*judgement.missed, *missed))
    unbuildable = [outcomes.NoTarget(piece, (file, 1), piece)]
    return Outcome(directory, targets, runs, judgement, unbuildable, 14.0), linted


def _verified(output_format: str, outcome: Outcome, linted: Linted) -> str:
    context = Context(outcome.root, linted.source)
    if output_format == "listing":
        return listing(outcome.targets, outcome.unbuildable, context)
    if output_format == "html":
        return html.render(outcome, linted.source)
    if output_format not in reports.TEXT_FORMATS:
        return reports.render(outcome, output_format, linted.source)
    printer = Printer(outcome.targets, context, concise=output_format == "concise", show_output=True)
    return "".join(printer.run(run, outcome.judgement) for run in outcome.runs) + summary(outcome)


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.scripts += tag == "script"


def _page(text: str, outcome: Outcome, linted: Linted) -> None:
    page = _Tags(text)
    assert page.scripts == 1
    assert not page.tags & {"img", "iframe", "object", "link", "base", "form"}
    assert not {name for name in page.attributes if name.startswith("on") or name in ("src", "style")}


def _elements(text: str, outcome: Outcome, linted: Linted) -> None:
    is_no_command(text)
    root = ElementTree.fromstring(text)
    assert {element.tag for element in root.iter()} == {"testsuites", "testsuite", "testcase", "failure", "system-out"}
    assert len(root.findall("testsuite/testcase")) == len(outcome.runs)
    output = outcome.runs[0].output
    if all(line.isprintable() for line in output.split("\n")) and "::" not in output and "##" not in output:
        assert root.findtext("testsuite/testcase/system-out") == output


def _sarif(text: str, outcome: Outcome, linted: Linted) -> None:
    is_no_command(text)
    (run,) = json.loads(text)["runs"]
    assert run["results"]
    uris = {
        place["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"] for place in one["locations"]
    }
    (file,) = {target.place[0] for target in outcome.targets}
    assert {unquote_to_bytes(uri) for uri in uris} == {os.fsencode(file.name)}
    assert all(re.fullmatch(r"[\w.~%/-]+", uri, re.ASCII) for uri in uris)
    for result in run["results"]:
        assert not re.search(r"(?<!\\)\[[^\]]*(?<!\\)\]\(", result["message"]["text"])


def _object(text: str, outcome: Outcome, linted: Linted) -> None:
    is_no_command(text)
    document = json.loads(text)
    assert [run["output"] for run in document["runs"]] == [run.output for run in outcome.runs]
    assert {target["filename"] for target in document["targets"]} == {str(one.place[0]) for one in outcome.targets}


VERIFY_CHECKS: dict[str, Callable[[str, Outcome, Linted], None]] = {
    "text": lambda text, *_: is_no_command(text),
    "concise": lambda text, *_: is_no_command(text),
    "listing": lambda text, *_: is_no_command(text),
    "json": _object,
    "sarif": _sarif,
    "junit": _elements,
    "html": _page,
}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such file names")
@pytest.mark.parametrize(("output_format", "piece"), each_value(VERIFY_FORMATS, list(PIECES.values())))
def test_a_report_of_verify_obeys_nobody(output_format: str, piece: str, tmp_path: Path) -> None:
    outcome, linted = _outcome(piece, tmp_path)
    text = _verified(output_format, outcome, linted)
    is_inert(text)
    VERIFY_CHECKS[output_format](text, outcome, linted)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such file names")
@pytest.mark.parametrize(
    "flags", one_in(3, [["--output-format", name] for name in FORMATS] + [["--show-files"], ["--diff"]])
)
def test_nor_does_a_run_over_files_of_such_names(flags: list[str], tmp_path: Path) -> None:
    names = [name.replace("/", "|") for name in PIECES.values() if "\ud800" not in name]
    for name in names:
        (tmp_path / f"{name}.py").write_text(NET, encoding="utf-8")
    (tmp_path / "exportlint.toml").write_text('"a\\u001b[31m\\n::error::b" = 1\n' if "--diff" in flags else "")
    done = subprocess.run(
        [*python(), "-m", "exportlint", "check", *flags], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == (2 if "--diff" in flags else 0 if "--show-files" in flags else 1), done.stderr
    for text in (done.stdout.decode(), done.stderr.decode()):
        is_inert(text)
        if flags[-1] not in {"github", "azure"}:
            is_no_command(text)
    assert len(re.findall(r"^error: [^\n]*\n", done.stderr.decode())) == ("--diff" in flags)
    assert b"Traceback" not in done.stderr
    assert ("EXP101" in done.stdout.decode()) == ("--output-format" in flags)
