"""What is shown, what is fixed and what makes a run fail, by severity."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.config.severity import DATA_FORMATS
from tests.cli.runner import Run, write
from tests.sampling import one_in

INFO = """\
from torch import nn


class Printing(nn.Module):
    def forward(self, x):
        print("here")
        return x
"""
MIXED = (
    INFO
    + """

class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x


class Other(nn.Module):
    def forward(self, x):
        return x if type(x) is torch.Tensor else x[0]


import torch
"""
)
RULES = {"info": "EXP605", "error": "EXP101", "warning": "EXP602"}
SHOWN = {"info": ["info", "error", "warning"], "warning": ["error", "warning"], "error": ["error"]}


@pytest.mark.parametrize(
    ("argv", "toml", "least"),
    [
        ((), "", "warning"),
        (("--min-severity", "info"), "", "info"),
        (("--min-severity", "error"), "", "error"),
        (("--show-info",), "", "info"),
        (("--show-info", "--min-severity", "info"), "", "info"),
        ((), 'min-severity = "error"\n', "error"),
        ((), "show-info = true\n", "info"),
        ((), "show-info = false\n", "warning"),
        ((), 'show-info = true\nmin-severity = "error"\n', "error"),
        (("--show-info",), 'min-severity = "error"\n', "info"),
        (("--min-severity", "warning"), "show-info = true\n", "warning"),
        (("--fail-on", "info"), "", "info"),
        (("--fail-on", "info"), 'min-severity = "error"\n', "info"),
        (("--fail-on", "info", "--min-severity", "error"), "", "error"),
    ],
)
@pytest.mark.parametrize("output_format", one_in(2, ["json", "jsonl", "concise", "grouped", "github"]))
def test_what_is_shown(root: Path, run: Run, argv: tuple[str, ...], toml: str, least: str, output_format: str) -> None:
    write(root, {"a.py": MIXED, "exportlint.toml": toml})
    out = run("a.py", "--output-format", output_format, *argv).out
    if not argv and not toml and output_format in DATA_FORMATS:
        least = "info"  # programs filter themselves
    assert [severity for severity, code in RULES.items() if code in out] == SHOWN[least]


@pytest.mark.parametrize(
    ("argv", "lines"),
    [
        ((), ["Found 2 findings (1 error, 1 warning).", "1 info hidden (`--show-info` shows it)."]),
        (("--show-info",), ["Found 3 findings (1 error, 1 warning, 1 info)."]),
        (
            ("--min-severity", "error"),
            ["Found 1 finding (1 error).", "1 warning and 1 info hidden (`--min-severity info` shows them)."],
        ),
        (
            ("--min-severity", "error", "--ignore", "EXP605,EXP101"),
            ["All checks passed!", "1 warning hidden (`--min-severity warning` shows it)."],
        ),
    ],
)
def test_the_summary_counts_what_is_hidden(root: Path, run: Run, argv: tuple[str, ...], lines: list[str]) -> None:
    write(root, {"a.py": MIXED})
    for extra in ((), ("--statistics",)):
        out = run("--output-format", "concise", *argv, *extra).out.splitlines()
        end = [line for line in out if not line.startswith("a.py") and "fix" not in line and "\t" not in line]
        assert end == lines
    assert "hidden" not in run("--output-format", "concise", "-q", *argv).out


@pytest.mark.parametrize(
    ("argv", "toml", "code"),
    [
        ((), "", 1),
        (("--fail-on", "error"), "", 1),
        (("--fail-on", "never"), "", 0),
        (("--exit-zero",), "", 0),
        (("--ignore", "EXP101"), "", 1),
        (("--ignore", "EXP101", "--fail-on", "error"), "", 0),
        (("--ignore", "EXP101"), 'fail-on = "error"\n', 0),
        (("--ignore", "EXP101", "--fail-on", "warning"), 'fail-on = "error"\n', 1),
        (("--ignore", "EXP101,EXP602"), "", 0),
        (("--ignore", "EXP101,EXP602", "--show-info"), "", 0),
        (("--ignore", "EXP101,EXP602", "--fail-on", "info"), "", 1),
        # What is hidden does not count.
        (("--ignore", "EXP101", "--min-severity", "error"), "", 0),
        (("--ignore", "EXP101", "--min-severity", "error", "--fail-on", "info"), "", 0),
    ],
)
def test_what_makes_a_run_fail(root: Path, run: Run, argv: tuple[str, ...], toml: str, code: int) -> None:
    write(root, {"a.py": MIXED, "exportlint.toml": toml})
    for output_format in ("concise", "json"):
        assert run("a.py", "--output-format", output_format, *argv).code == code


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("--min-severity", "high"), "error: --min-severity: `high` is not one of `info`, `warning`, `error`\n"),
        (("--fail-on", "no"), "error: --fail-on: `no` is not one of `info`, `warning`, `error`, `never`\n"),
        (
            ("--show-info", "--min-severity", "error"),
            "error: --show-info cannot be used together with --min-severity\n",
        ),
    ],
)
def test_wrong_use(root: Path, run: Run, argv: tuple[str, ...], error: str) -> None:
    assert run(*argv) == (2, "", error)


@pytest.mark.parametrize("output_format", ["full", "json"])
@pytest.mark.parametrize(("argv", "fixed"), [((), False), (("--show-info",), True)])
def test_what_is_hidden_is_not_fixed(
    root: Path, run: Run, argv: tuple[str, ...], fixed: bool, output_format: str
) -> None:
    text = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        w = torch.ones(3, requires_grad=True)  # info: [requires-grad] in non-strict; error: [requires-grad] in strict
        return x * w.detach()
"""
    write(root, {"a.py": text})
    (found,) = run("--output-format", "json").findings
    assert (found["severity"], found["fix"]["applicability"]) == ("info", "safe")
    run("--fix", "--output-format", output_format, *argv)
    assert ((root / "a.py").read_text() != text) is fixed


def test_a_suppression_of_what_is_hidden_is_used(root: Path, run: Run) -> None:
    write(root, {"a.py": INFO.replace('("here")', '("here")  # exportlint: ignore[EXP605]')})
    assert run() == (0, "All checks passed!\n", "")


def test_nothing_hidden_gets_a_suppression(root: Path, run: Run) -> None:
    write(root, {"a.py": INFO})
    assert run("--add-ignore").out == "Added 0 suppressions.\n"
    assert run("--add-ignore", "--show-info").out == "Added 1 suppression.\n"


def test_what_is_said_of_a_line_twice_is_one_finding(root: Path, run: Run) -> None:
    text = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        return x.tolist(), y.item(), torch.equal(x, y), torch.equal(y, x)
"""
    write(root, {"a.py": text})
    found = run("--output-format", "json", "--select", "EXP208").findings
    assert [finding["location"] for finding in found] == [{"row": 7, "column": 38}]
    assert "Found 1 finding (1 error, 0 warnings)." in run("--select", "EXP208").out


def test_a_class_has_one_line_on_its_modules_and_one_on_its_arguments(root: Path, run: Run) -> None:
    text = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.norm = nn.BatchNorm1d(3)
        self.other = nn.Dropout(0.2)

    def forward(self, x, mask=None, scale: float = 1.0):
        x = self.other(self.norm(self.drop(x)))
        if self.training:
            x = x + 1
        return x * scale if mask is None else x
"""
    write(root, {"a.py": text})
    found = run("--output-format", "json", "--show-info", "--select", "EXP703,EXP509").findings
    messages = {finding["code"]: finding["message"] for finding in found}
    assert messages == {
        "EXP703": "the exported program accepts `mask` (given or None), `scale` (float) only as in the example inputs",
        "EXP509": (
            "fixed at export: `self.training`, the mode of `Dropout`, `BatchNorm1d`; "
            "`.train()` and `.eval()` have no effect on the program"
        ),
    }
    assert len(found) == len(messages)
