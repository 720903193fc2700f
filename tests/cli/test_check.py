from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exportlint.analysis.project import Project
from exportlint.check import check_file
from exportlint.config import Settings
from exportlint.findings import Finding, Severity
from exportlint.source import SourceFile
from tests.cli.runner import CLEAN, NET, Run, write

WARNING = "x = 1  # exportlint: ignore[tensor-branch]\n"


def test_full_report_shows_the_code_the_place_and_the_summary(root: Path, run: Run) -> None:
    write(root, {"pkg/model.py": NET})
    result = run("check", "pkg")
    assert result.code == 1
    lines = result.out.splitlines()
    assert lines[0].startswith("error[EXP101 tensor-branch]: [*] `if` on tensor data")
    assert lines[1] == "  --> pkg/model.py:7:12"
    at = lines.index(" 7 |         if x.sum() > 0:")
    assert lines[at + 1] == "   |            ^^^^^^^^^^^"
    assert lines[-2:] == ["Found 1 finding (1 error, 0 warnings).", "[*] 1 fixable with `--fix`."]


OPAQUE = """\
from torch import nn


class Pair:
    def __init__(self, first):
        self.first = first


class Net(nn.Module):
    def forward(self, x):
        return Pair(x + 1)
"""
DEEP = "".join(f"def f{i}(a):\n    return f{i + 1}(a)\n\n\n" for i in range(200))
DEEP += NET.replace("        if x.sum() > 0:\n            return x + 1\n", "        x = f0(x)\n")
CUT = "The analysis of 1 class was cut short; see `--show-limits`."


def test_what_is_cut_short_does_not_pass(root: Path, run: Run) -> None:
    write(root, {"model.py": DEEP})
    result = run("model.py", "--select", "EXP1")
    assert result.code == 1
    assert "analysis-limit" in result.out
    assert "All checks passed" not in result.out
    assert result.out.splitlines()[-1] == CUT
    assert run("model.py", "--ignore", "analysis-limit") == (
        0, f"Found nothing in the code that was analyzed.\n{CUT}\n", ""
    )  # fmt: skip
    as_json = run("model.py", "--ignore", "analysis-limit", "--output-format", "json")
    assert (as_json.findings, as_json.err) == ([], f"warning: {CUT}\n")


def test_an_ignored_comment_does_not_hide_that_something_is_cut_short(root: Path, run: Run) -> None:
    write(root, {"model.py": DEEP.replace("nn.Module):", "nn.Module):  # exportlint: ignore[analysis-limit]")})
    result = run("model.py", "-j", "2")
    assert (result.code, result.out.splitlines()) == (0, ["Found nothing in the code that was analyzed.", CUT])


def test_limits_are_listed_with_what_ran_into_them(root: Path, run: Run) -> None:
    write(root, {"model.py": DEEP, "clean.py": CLEAN})
    row = DEEP[: DEEP.index("class Net")].count("\n") + 1
    lines = run("model.py", "--show-limits").out.splitlines()
    listed = lines[lines.index("Limits:") :]
    assert "  depth: 100 calls inside each other per exported class" in listed
    assert "  evaluations: 400,000 evaluations per exported class" in listed
    assert "  seconds: 20 seconds of processor time per exported class" in listed
    assert listed[-2] == "Cut short:"
    assert listed[-1].startswith(
        f"  model.py:{row}:1: parts of `Net` are not analyzed: calls are nested more than 100 deep"
    )
    assert "The analysis of 1 class was cut short." in lines
    clean = run("clean.py", "--show-limits").out.splitlines()
    assert (clean[0], clean[-1]) == ("All checks passed!", "No limit was reached.")
    assert clean[1:-1] == listed[:-2]
    as_json = run("model.py", "--show-limits", "--output-format", "json", "--quiet")
    assert [finding["code"] for finding in as_json.findings] == ["EXP006"]
    assert as_json.err.splitlines() == listed


def test_an_imported_file_that_cannot_be_read_is_told(root: Path, run: Run) -> None:
    write(
        root, {"model.py": "from ops import dark\n" + NET.replace("x.sum() > 0", "dark(x)"), "ops.py": "def dark(:\n"}
    )
    result = run("model.py", "--select", "EXP1")
    told = "1 imported file could not be read: `ops.py` (invalid syntax)."
    assert (result.code, result.out.splitlines()) == (0, ["Found nothing in the code that was analyzed.", told])
    assert "could not be read" not in run(".").out  # it is a finding
    (root / "ops.py").write_text("def dark(x):\n    return True\n", encoding="utf-8")
    assert run("model.py", "--select", "EXP1").out == "All checks passed!\n"


def test_json_has_every_documented_key(root: Path, run: Run) -> None:
    write(root, {"model.py": NET})
    (finding,) = run("model.py", "--output-format", "json").findings
    assert finding["code"] == "EXP101"
    assert finding["name"] == "tensor-branch"
    assert finding["severity"] == "error"
    assert finding["message"].startswith("`if` on tensor data")
    assert finding["filename"] == str(root / "model.py")
    assert finding["location"] == {"row": 7, "column": 12}
    assert finding["end_location"] == {"row": 7, "column": 23}
    assert finding["symbol"] == "Net.forward"
    assert finding["mode"] == "non-strict"
    assert finding["fix"].keys() == {"applicability", "message", "obstacle", "edits"}
    assert finding["cell"] is None
    assert finding["url"].endswith("/EXP101-tensor-branch.md")
    assert finding["trail"]
    for step in finding["trail"]:
        assert step["filename"] == str(root / "model.py")
        assert step["message"]
        assert step["location"]["row"] >= 1


@pytest.mark.parametrize(
    ("output_format", "expected"),
    [
        ("concise", "model.py:7:12: error[EXP101 tensor-branch]: [*] `if` on tensor data"),
        ("grouped", "model.py:\n  7:12  error[EXP101 tensor-branch]: [*] `if` on tensor data"),
        ("jsonl", '{"code": "EXP101", "name": "tensor-branch"'),
        ("github", "::error title=exportlint (EXP101 tensor-branch),file="),
    ],
)
def test_formats(root: Path, run: Run, output_format: str, expected: str) -> None:
    write(root, {"model.py": NET})
    result = run(".", "--output-format", output_format)
    assert result.code == 1
    assert result.out.startswith(expected)


def test_json_lines_are_the_objects_of_json(root: Path, run: Run) -> None:
    write(root, {"a.py": NET, "b.py": NET})
    lines = run("--output-format", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == run("--output-format", "json").findings


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ((), ["a.py", "sub/b.py"]),
        (("check",), ["a.py", "sub/b.py"]),
        (("check", "sub"), ["sub/b.py"]),
        (("sub",), ["sub/b.py"]),
        (("sub/b.py", "a.py"), ["a.py", "sub/b.py"]),
        (("--exclude", "sub"), ["a.py"]),
        (("--extend-exclude", "a.*,nothing"), ["sub/b.py"]),
        (("sub/b.py", "--exclude", "sub"), ["sub/b.py"]),
        (("sub/b.py", "--exclude", "sub", "--force-exclude"), []),
    ],
)
def test_which_files_are_linted(root: Path, run: Run, argv: tuple[str, ...], expected: list[str]) -> None:
    write(root, {"a.py": NET, "sub/b.py": NET})
    result = run(*argv, "--show-files")
    assert result.out.splitlines() == [str(root / name) for name in expected]
    assert result.code == 0
    found = run(*argv, "--output-format", "json").findings
    assert [f["filename"] for f in found] == [str(root / name) for name in expected]


@pytest.mark.parametrize(
    ("argv", "codes"),
    [
        ((), ["EXP101", "EXP002"]),
        (("--select", "EXP1"), ["EXP101"]),
        (("--select", "EXP2"), []),
        (("--select", "control-flow"), ["EXP101"]),
        (("--select", "tensor-branch"), ["EXP101"]),
        (("--select", "EXP"), ["EXP101", "EXP002"]),
        (("--select", "EXP2,EXP1"), ["EXP101"]),
        (("--select", "EXP2", "--select", "EXP101"), ["EXP101"]),
        (("--select", "EXP2", "--extend-select", "EXP101"), ["EXP101"]),
        (("--ignore", "EXP101"), []),
        (("--ignore", "tensor-branch"), []),
        (("--ignore", "ALL"), []),
        (("--ignore", "EXP1", "--select", "EXP101"), ["EXP101"]),
        (("--ignore", "EXP101", "--select", "EXP1"), []),
        (("--per-file-ignores", "model.py:EXP1"), ["EXP002"]),
        (("--per-file-ignores", "other.py:EXP1"), ["EXP101", "EXP002"]),
        (("--per-file-ignores", "!model.py:EXP1"), ["EXP101"]),
    ],
)
def test_selection_of_rules(root: Path, run: Run, argv: tuple[str, ...], codes: list[str]) -> None:
    # `noqa` of a code counts as unused only where that rule is checked.
    write(root, {"model.py": NET, "z.py": "x = 1  # noqa: EXP101\n"})
    assert [f["code"] for f in run(*argv, "--output-format", "json").findings] == codes


@pytest.mark.parametrize("text", ["def f(:\n", "print 'python 2'\n", "class Net(\n", "x = (" * 300])
def test_a_syntax_error_is_a_finding_and_other_files_go_on(root: Path, run: Run, text: str) -> None:
    write(root, {"bad.py": text, "model.py": NET})
    result = run("--output-format", "json")
    assert [(name, code) for name, _, code in result.places] == [("bad.py", "EXP001"), ("model.py", "EXP101")]
    assert result.code == 1


def test_a_syntax_error_is_said_once(root: Path, run: Run) -> None:
    write(root, {"bad.py": "def f(:\n"})
    line = run("--output-format", "concise").out.splitlines()[0]
    assert line == "bad.py:1:7: error[EXP001 syntax-error]: invalid syntax"


def test_operators_have_their_public_names(root: Path, run: Run) -> None:
    text = """\
import torch
import torch.nn.functional as F
from torch import linalg, nn
from torch.nn.functional import one_hot


class Net(nn.Module):
    def forward(self, x, y):
        a = F.one_hot(x)
        b = one_hot(y)
        c = torch.equal(x, y)
        d = x.equal(y)
        e = linalg.lstsq(x, y)
        f = torch.distributions.normal.Normal(x, y)
        g = F.one_hot(x, num_classes=x.shape[0])
        h = x.chunk(x.shape[0])
        return a, b, c, d, e, f, g, h
"""
    write(root, {"model.py": text})
    said = {f["location"]["row"]: f["message"].split(" ")[0] for f in run("--output-format", "json").findings}
    assert {row: said.get(row) for row in range(9, 17)} == {
        9: "`torch.nn.functional.one_hot`",
        10: "`torch.nn.functional.one_hot`",
        11: "`torch.equal`",
        12: "`Tensor.equal`",
        13: "`torch.linalg.lstsq`",
        14: "`torch.distributions.Normal`",
        15: "`torch.nn.functional.one_hot()`",
        16: "`Tensor.chunk()`",
    }


def test_select_does_not_hide_that_a_file_was_not_looked_at(root: Path, run: Run) -> None:
    write(root, {"bad.py": "def f(:\n"})
    assert run("--select", "EXP2", "--output-format", "json").places == [("bad.py", 1, "EXP001")]
    assert run("--ignore", "syntax-error").code == 0


def test_a_path_that_is_not_there_is_a_finding(root: Path, run: Run) -> None:
    write(root, {"model.py": CLEAN})
    result = run("modle.py", "model.py", "--output-format", "concise")
    assert result.code == 1
    assert result.out.startswith("modle.py:1:1: error[EXP003 unreadable-file]: no such file or directory")


def test_undecodable_unreadable_and_vanished_files(root: Path, run: Run) -> None:
    (root / "latin.py").write_bytes(b'x = 1\ny = "\xe9"\n')
    (root / "nul.py").write_bytes(b"x = 1\0\n")
    (root / "link.py").symlink_to(root / "nowhere.py")
    result = run("--output-format", "json")
    assert result.places == [("latin.py", 2, "EXP003"), ("link.py", 1, "EXP003"), ("nul.py", 1, "EXP003")]
    assert result.code == 1
    assert "Found 3 findings" in run().out


@pytest.mark.parametrize(
    ("files", "argv", "code"),
    [
        ({"a.py": CLEAN}, (), 0),
        ({"a.py": NET}, (), 1),
        ({"a.py": WARNING}, (), 1),
        ({"a.py": NET}, ("--exit-zero",), 0),
        ({}, (), 0),
    ],
)
def test_exit_codes(root: Path, run: Run, files: dict[str, str], argv: tuple[str, ...], code: int) -> None:
    write(root, files)
    assert run(*argv).code == code


def test_no_files_is_said(root: Path, run: Run) -> None:
    result = run()
    assert result.err == "warning: no Python files found under the given paths\n"
    assert result.out == "All checks passed!\n"


def test_quiet_prints_only_findings(root: Path, run: Run) -> None:
    write(root, {"a.py": CLEAN})
    assert run("-q").out == ""
    write(root, {"a.py": NET})
    assert "Found" not in run("-q", "--output-format", "concise").out


def test_statistics(root: Path, run: Run) -> None:
    write(root, {"a.py": NET, "b.py": NET, "c.py": "def f(:\n"})
    result = run("--statistics")
    assert result.out.splitlines()[:2] == [
        "2\t[*]\terror\tEXP101\ttensor-branch",
        "1\t[ ]\terror\tEXP001\tsyntax-error",
    ]
    assert result.code == 1
    counts = json.loads(run("--statistics", "--output-format", "json").out)
    assert counts[0] == {
        "code": "EXP101",
        "name": "tensor-branch",
        "severity": "error",
        "count": 2,
        "fixable_count": 2,
    }
    assert run("--statistics", "--output-format", "github").code == 2


def test_output_file(root: Path, run: Run) -> None:
    write(root, {"a.py": NET})
    result = run("--output-format", "json", "-o", "reports/new/out.json")
    assert (result.code, result.out) == (1, "")
    assert json.loads((root / "reports/new/out.json").read_text())[0]["code"] == "EXP101"
    result = run("-o", root)
    assert (result.code, result.err) == (2, f"error: cannot write {root}: Is a directory\n")


class TestStandardInput:
    def test_findings_are_named_after_the_given_file(self, root: Path, run: Run) -> None:
        result = run("-", "--stdin-filename", "pkg/model.py", "--output-format", "concise", stdin=NET.encode())
        assert result.code == 1
        assert result.out.startswith("pkg/model.py:7:12: error[EXP101")

    def test_without_a_name_it_is_a_dash(self, root: Path, run: Run) -> None:
        result = run("-", stdin=NET.encode())
        assert "--> -:7:12" in result.out
        assert "if x.sum() > 0:" in result.out

    def test_settings_are_those_of_the_named_file(self, root: Path, run: Run) -> None:
        write(root, {"pkg/exportlint.toml": 'ignore = ["EXP101"]\n'})
        assert run("-", "--stdin-filename", "pkg/model.py", stdin=NET.encode()).code == 0
        assert run("-", "--stdin-filename", "model.py", stdin=NET.encode()).code == 1

    def test_an_excluded_name_is_left_out_by_force(self, root: Path, run: Run) -> None:
        argv = ("-", "--stdin-filename", "pkg/model.py", "--exclude", "pkg")
        assert run(*argv, stdin=NET.encode()).code == 1
        assert run(*argv, "--force-exclude", stdin=NET.encode()).code == 0

    def test_bytes_are_decoded_as_python_does(self, root: Path, run: Run) -> None:
        assert run("-", stdin=b"# coding: latin-1\nx = '\xe9'\n").code == 0
        assert "EXP003" in run("-", stdin=b"x = '\xe9'\n").out

    def test_it_cannot_be_mixed_with_files(self, root: Path, run: Run) -> None:
        result = run("-", "a.py")
        assert result.code == 2
        assert "together with files" in result.err


class TestColor:
    @pytest.mark.parametrize(
        ("argv", "environment", "colored"),
        [
            ((), {}, False),
            (("--color", "always"), {}, True),
            (("--color", "always"), {"NO_COLOR": "1"}, True),
            ((), {"FORCE_COLOR": "1"}, True),
            ((), {"FORCE_COLOR": "0"}, False),
            ((), {"CLICOLOR_FORCE": "1"}, True),
            ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
            (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        ],
    )
    def test_when(
        self,
        root: Path,
        run: Run,
        monkeypatch: pytest.MonkeyPatch,
        argv: tuple[str, ...],
        environment: dict[str, str],
        colored: bool,
    ) -> None:
        write(root, {"a.py": NET})
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert ("\x1b[" in run(*argv).out) == colored

    def test_only_text_for_people_is_coloured(self, root: Path, run: Run) -> None:
        write(root, {"a.py": NET})
        for output_format in ("json", "jsonl", "github"):
            assert "\x1b[" not in run("--color", "always", "--output-format", output_format).out


class TestSettingsFromFlags:
    def test_mode_and_torch_version(self, root: Path, run: Run) -> None:
        write(root, {"a.py": NET})
        (finding,) = run("--mode", "strict", "--torch-version", "2.9.1", "--output-format", "json").findings
        assert finding["mode"] == "strict"
        shown = run("--mode", "strict", "--torch-version", "2.9.1", "--show-settings").out
        assert 'mode = "strict"' in shown
        assert 'torch-version = "2.9"' in shown

    def test_show_settings_names_the_file(self, root: Path, run: Run) -> None:
        write(root, {"a.py": NET, "exportlint.toml": 'mode = "strict"\n'})
        lines = run("--show-settings").out.splitlines()
        assert lines[0] == f'Resolved settings for: "{root / "a.py"}"'
        assert lines[1] == f'Settings path: "{root / "exportlint.toml"}"'
        assert 'mode = "strict"' in lines

    def test_config_file_and_inline_settings(self, root: Path, run: Run) -> None:
        write(root, {"a.py": NET, "exportlint.toml": 'ignore = ["EXP1"]\n', "other.toml": 'mode = "strict"\n'})
        assert run().code == 0
        assert run("--isolated").code == 1
        assert run("--config", "other.toml", "--output-format", "json").findings[0]["mode"] == "strict"
        argv = ("--config", "other.toml", "--config", 'mode = "non-strict"', "--output-format", "json")
        assert run(*argv).findings[0]["mode"] == "non-strict"
        assert run("--isolated", "--config", 'ignore = ["EXP101"]').code == 0

    def test_output_format_from_the_environment(self, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        write(root, {"a.py": CLEAN, "exportlint.toml": 'output-format = "grouped"\n'})
        monkeypatch.setenv("EXPORTLINT_OUTPUT_FORMAT", "json")
        assert run().out == "[]\n"
        assert run("--output-format", "concise").out == "All checks passed!\n"
        monkeypatch.setenv("EXPORTLINT_OUTPUT_FORMAT", "jsom")
        result = run()
        assert result.code == 2
        assert result.err.startswith("error: EXPORTLINT_OUTPUT_FORMAT: `jsom` is not one of")

    def test_the_cache_flag_is_accepted(self, root: Path, run: Run) -> None:
        write(root, {"a.py": CLEAN})
        assert run("--no-cache").code == 0


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("fix", "src"), "`fix` is neither a file nor a subcommand, did you mean `--fix`?"),
        (("chekc",), "`chekc` is neither a file nor a subcommand, did you mean `check`?"),
        (("--slect", "EXP1"), "unexpected argument `--slect`, did you mean `--select`?"),
        (("--select", "EXP7777"), "--select: unknown rule selector `EXP7777`"),
        (("--select", "tensor-brnch"), "did you mean `tensor-branch`"),
        (("--ignore", "control-flwo"), "did you mean `control-flow`"),
        (("--mode", "strct"), "--mode: `strct` is not one of `non-strict`, `strict`; did you mean `strict`"),
        (("--torch-version", "2.1"), "--torch-version: torch 2.1 is too old: exportlint knows 2.4 and newer"),
        (("--torch-version", "new"), "--torch-version: `new` is not a torch version such as `2.13`"),
        (("--output-format", "sjon"), "did you mean `json`"),
        (("--config", "nothing.toml"), "there is no such file, and it is not `KEY = VALUE` either"),
        (("--config", "mdoe = 1"), "unknown setting `mdoe`, did you mean `mode`?"),
        (("--config", "mode = "), "not valid TOML"),
        (("--per-file-ignores", "a.py"), "expected PATTERN:RULE"),
        (("-j", "-1"), "--jobs -1: expected at least 1 process"),
        (("-j", "two"), "invalid int value: 'two'"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(root: Path, run: Run, argv: tuple[str, ...], error: str) -> None:
    write(root, {"a.py": NET})
    result = run(*argv)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert error in result.err
    assert result.err.count("\n") == 1


def test_a_file_called_like_a_mistyped_command_is_linted(root: Path, run: Run) -> None:
    write(root, {"chekc/a.py": NET})
    assert run("chekc").code == 1


def test_results_do_not_depend_on_the_number_of_processes(root: Path, run: Run) -> None:
    write(root, {f"pkg{i % 3}/m{i}.py": (NET, "def f(:\n", WARNING)[i % 3] for i in range(30)})
    one, two = (run("-j", jobs, "--output-format", "json") for jobs in ("1", "2"))
    assert len(one.findings) == 30
    assert one == two


@pytest.mark.parametrize("folder", [".", "models", "models/vision", "models/vision/nets", "elsewhere"])
def test_results_do_not_depend_on_the_working_directory(
    root: Path, run: Run, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {"models/vision/nets/net.py": OPAQUE, "elsewhere/other.py": CLEAN})
    monkeypatch.chdir(root / folder)
    result = run("check", "--isolated", "--output-format", "json", root / "models/vision/nets/net.py")
    assert [found["code"] for found in json.loads(result.out)] == ["EXP701"]


def test_info_alone_is_hidden_unless_asked_for_and_exits_with_0(
    root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lowered(source: SourceFile, project: Project, settings: Settings, *_: object) -> list[Finding]:
        return [replace(f, severity=Severity.INFO) for f in check_file(source, project, settings)]

    monkeypatch.setattr("exportlint.workspace.check_file", lowered)
    write(root, {"model.py": NET})
    assert run("--output-format", "concise") == (0, "All checks passed!\n1 info hidden (`--show-info` shows it).\n", "")
    result = run("--output-format", "concise", "--show-info")
    assert result.code == 0
    assert result.out.startswith("model.py:7:12: info[EXP101 tensor-branch]")
    assert "\nFound 1 finding (0 errors, 0 warnings, 1 info).\n" in result.out
    write(root, {"z.py": WARNING})
    assert run().code == 1


class TestFailures:
    """exportlint fails on one file: the others go on."""

    @staticmethod
    def _break(monkeypatch: pytest.MonkeyPatch, how: Callable[[], object]) -> None:
        def broken(source: SourceFile, project: Project, settings: Settings, *rest: Any) -> list[Finding]:
            if "BREAK" in source.text:
                how()
            return check_file(source, project, settings, *rest)

        monkeypatch.setattr("exportlint.workspace.check_file", broken)

    def test_a_fix_that_fails_takes_no_finding_away(
        self, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise IndexError("none")

        monkeypatch.setattr("exportlint.rules.tensor_branch._fix", fail)
        write(root, {"b.py": NET})
        result = run("--output-format", "json")
        assert result.code == 2
        assert result.places == [("b.py", 1, "EXP004"), ("b.py", 7, "EXP101")]
        assert result.findings[0]["message"].startswith("internal error: a fix failed: IndexError: none (exportlint/")

    def test_a_rule_that_fails_is_one_finding_and_the_others_go_on(
        self, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise IndexError("none")

        monkeypatch.setattr("exportlint.rules.tensor_branch._is_size", fail)
        second = NET.replace("return x + 1", "return x + x.max().item()")
        write(root, {"a.py": CLEAN, "b.py": second, "c.py": NET})
        result = run("--output-format", "json", "--show-info")
        assert result.code == 2
        assert result.places == [("b.py", 1, "EXP004"), ("b.py", 8, "EXP201"), ("c.py", 1, "EXP004")]
        message = result.findings[0]["message"]
        assert message.startswith("internal error: EXP101 tensor-branch failed: IndexError: none (exportlint/rules/")

    def test_an_exception_is_a_finding(self, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail() -> None:
            raise ValueError("two\nlines")

        self._break(monkeypatch, fail)
        write(root, {"a.py": "BREAK = 1\n", "b.py": NET})
        result = run("--output-format", "json")
        assert result.code == 2
        assert result.places == [("a.py", 1, "EXP004"), ("b.py", 7, "EXP101")]
        message = result.findings[0]["message"]
        assert message.startswith("internal error: ValueError: two lines (exportlint/workspace.py:")
        assert message.endswith("; please report this, with the file if you can")
        assert run("--exit-zero").code == 2

    def test_where_memory_runs_out_the_file_is_looked_at_once_more_without_what_earlier_ones_left(
        self, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        raised = [MemoryError(), SystemError("error return without exception set")]

        def fail() -> None:
            if raised:
                raise raised.pop()

        self._break(monkeypatch, fail)
        write(root, {"a.py": f"BREAK = 1\n{NET}", "b.py": NET, "c.py": f"BREAK = 1\n{NET}"})
        result = run("--output-format", "json")
        assert result.places == [("a.py", 1, "EXP003"), ("b.py", 7, "EXP101"), ("c.py", 8, "EXP101")]
        assert result.findings[0]["message"] == "does not fit into memory"

    @pytest.mark.thorough
    @pytest.mark.skipif(sys.platform != "linux", reason="where a limit of the address space holds")
    def test_a_text_whose_tree_does_not_fit_into_memory_is_not_called_nested(self, root: Path) -> None:
        write(root, {"a.py": "x = 1 + 2 * (3 if 4 else 5)\n" * 60_000, "b.py": NET})
        limited = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (480 * 2**20,) * 2);"
            "from exportlint.cli import main; main(sys.argv[1:])"
        )
        command = [sys.executable, "-c", limited, "--isolated", "--no-cache", "--output-format", "concise", "."]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        assert lines[0] == "a.py:1:1: error[EXP003 unreadable-file]: does not fit into memory"
        assert lines[1].startswith("b.py:7:12: error[EXP101")

    def test_endless_recursion_is_a_finding(self, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def recurse() -> None:
            recurse()

        self._break(monkeypatch, recurse)
        write(root, {"a.py": "BREAK = 1\n", "b.py": NET})
        result = run("--output-format", "json")
        assert result.places == [("a.py", 1, "EXP004"), ("b.py", 7, "EXP101")]
        assert "RecursionError" in result.findings[0]["message"]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="a broken check_file reaches the workers only by fork")
    def test_a_process_that_dies_is_a_finding(self, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        self._break(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGKILL))
        write(root, {f"m{i:02}.py": "BREAK = 1\n" if i in (3, 17) else NET for i in range(24)})
        result = run("-j", "2", "--output-format", "json")
        assert result.code == 2
        assert [code for _, _, code in result.places].count("EXP101") == 22
        assert [name for name, _, code in result.places if code == "EXP004"] == ["m03.py", "m17.py"]
        assert "the worker process that analyzed this file died" in result.findings[3]["message"]

    def test_interruption_is_quiet(self, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt() -> None:
            raise KeyboardInterrupt

        self._break(monkeypatch, interrupt)
        write(root, {"a.py": "BREAK = 1\n"})
        result = run()
        assert (result.code, result.out, result.err) == (130, "", "error: interrupted\n")
