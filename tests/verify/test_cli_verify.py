"""`exportlint verify` as a user runs it, with the real torch.export."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from exportlint.cli import main
from tests.cli.runner import Result, write
from tests.forking import python
from tests.patience import PATIENCE
from tests.verify.workshop import running

MODELS = """\
import random
import torch
from torch import nn


class Gate(nn.Module):
    def forward(self, x):
        print("gate was here")
        if x.sum() > 0:
            x = x * 2
        return x


class Noise(nn.Module):
    def forward(self, x):
        return x * random.random()


class Fine(nn.Module):
    def forward(self, x):
        return x.relu()


class Loader(nn.Module):
    def __init__(self, path):
        super().__init__()

    def forward(self, x):
        return x
"""

SETTINGS = "\n".join(
    f"""\
[[tool.exportlint.verify.target]]
model = "shop.models:{name}"
inputs = ["float32[batch=2, 3]"]
"""
    for name in ("Gate", "Noise", "Fine")
)

HANG = """\
import pathlib
import time
from torch import nn


class Hang(nn.Module):
    def forward(self, x):
        pathlib.Path(__file__).with_name("hanging").touch()
        time.sleep(600)
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a `src` layout, and a cache of its own, so that each target is run once."""
    root = tmp_path_factory.mktemp("shop")
    write(root, {"pyproject.toml": SETTINGS, "src/shop/__init__.py": "", "src/shop/models.py": MODELS})
    return root


def environment(root: Path) -> dict[str, str]:
    unwanted = ("FORCE_COLOR", "CLICOLOR", "EXPORTLINT_OUTPUT_FORMAT")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    return {**kept, "XDG_CACHE_HOME": str(root / "cache"), "XDG_CONFIG_HOME": str(root / "config")}


def verify(root: Path, *argv: str) -> Result:
    """Run it in this process: only the worker needs one of its own, and has it."""
    python = [] if "--list" in argv else ["--python", sys.executable]
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment(root), clear=True),
        contextlib.chdir(root),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(["verify", *python, *argv])
    return Result(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def report(shop: Path) -> dict[str, Any]:
    """What verify says of the configured targets, as JSON; with it, they are in the cache."""
    result = verify(shop, "--output-format", "json", "--html", "report.html")
    assert (result.code, result.err) == (1, "")
    told: dict[str, Any] = json.loads(result.out)
    return told


def test_targets_get_their_verdicts(report: dict[str, Any]) -> None:
    assert [(run["target"], run["verdict"]) for run in report["runs"]] == [
        ("shop.models:Gate", "fails"),
        ("shop.models:Noise", "diverges"),
        ("shop.models:Fine", "exports"),
    ]
    assert report["agrees"] is False
    assert report["runs"][2]["failures"] == []


def test_findings_get_their_verdicts(report: dict[str, Any]) -> None:
    said = [(f["code"], f["location"]["row"], f["verdict"], f["run"]) for f in report["findings"]]
    assert said == [("EXP101", 9, "confirmed", 0), ("EXP502", 16, "confirmed", 1)]
    assert "Could not guard on data-dependent expression" in report["findings"][0]["why"]


def test_json_has_the_fixes(report: dict[str, Any]) -> None:
    gate, noise = (f["fix"] for f in report["findings"])
    assert gate["applicability"] in ("safe", "unsafe")
    assert "torch.where" in gate["edits"][0]["content"]
    assert noise is None or noise["edits"]


def test_what_ran_is_told(report: dict[str, Any], shop: Path) -> None:
    file = str(shop / "src/shop/models.py")
    gate = report["runs"][0]
    assert 8 in gate["lines"][file]
    assert 16 not in gate["lines"][file]
    assert file in gate["files"]
    assert gate["output"].startswith("gate was here\n")


def test_the_page_is_written(report: dict[str, Any], shop: Path) -> None:
    page = (shop / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count('class="badge confirmed"') >= 2
    assert 'class="ran"' in page


def test_text(report: dict[str, Any], shop: Path) -> None:
    result = verify(shop, "--show-output")
    lines = result.out.splitlines()
    assert (result.code, result.err) == (1, "")
    assert re.match(r"shop\.models:Gate +fails +non-strict cpu +cached  GuardOnDataDependentSymNode: ", lines[0])
    assert "    | gate was here" in lines
    assert "   --> src/shop/models.py:9:12" in lines
    assert any(line.startswith("    = confirmed: export raises here: GuardOnDataDependentSymNode") for line in lines)
    cached = r"\(3 from the cache, `--no-cache` runs all\)"
    assert re.fullmatch(rf"Verified 3 targets in \d+\.\d s {cached}: 1 exports, 1 fails, 1 diverges\.", lines[-2])
    assert lines[-1] == "Findings: 2 confirmed."


def test_what_was_run_is_not_run_again(report: dict[str, Any], shop: Path) -> None:
    told = json.loads(verify(shop, "--output-format", "json").out)
    assert [run.pop("cached") for run in told["runs"]] == [True] * 3
    assert told["runs"] == [
        {k: v for k, v in run.items() if k != "cached"} for run in report["runs"]
    ]  # also the seconds


def test_progress_is_shown_on_a_terminal_alone(report: dict[str, Any], shop: Path) -> None:
    """Standard error is one, standard output is a pipe."""
    terminal, end = os.openpty()
    argv = [*python(), "-m", "exportlint", "verify", "--python", sys.executable]
    process = subprocess.Popen(
        argv, cwd=shop, env={**environment(shop), "TERM": "xterm"}, stdout=subprocess.PIPE, stderr=end, text=True
    )
    os.close(end)
    seen = b""
    with contextlib.suppress(OSError):  # which is how a terminal ends
        while part := os.read(terminal, 65536):
            seen += part
    os.close(terminal)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert b"0/3" in seen
    assert b"3/3" in seen
    assert out.splitlines()[-1] == "Findings: 2 confirmed."
    assert "\x1b" not in out


@pytest.mark.thorough
def test_an_executor_can_do_it(shop: Path) -> None:
    own = "from concurrent.futures import ThreadPoolExecutor\n\n\ndef make():\n    return ThreadPoolExecutor(1)\n"
    (shop / "own_executor.py").write_text(own, encoding="utf-8")
    argv = ("--executor", "own_executor:make", "--no-cache", "--output-format", "concise", "shop.models:Fine")
    result = verify(shop, *argv)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[0].split()[:2] == ["shop.models:Fine", "exports"]


def test_exit_zero_where_all_agree(report: dict[str, Any], shop: Path) -> None:
    result = verify(shop, "shop.models:Fine", "--output-format", "concise")
    assert result.code == 0
    assert result.out.splitlines()[1].startswith("Verified 1 target in ")


@pytest.mark.parametrize("output_format", ["sarif", "junit"])
def test_other_reports_go_into_files(output_format: str, report: dict[str, Any], shop: Path) -> None:
    result = verify(shop, "--output-format", output_format, "-o", f"out/report.{output_format}")
    assert (result.code, result.out, result.err) == (1, "", "")
    text = (shop / f"out/report.{output_format}").read_text(encoding="utf-8")
    assert "Could not guard on data-dependent expression" in text


def test_a_list_runs_nothing(shop: Path) -> None:
    result = verify(shop, "--list", "src")
    lines = [line.split() for line in result.out.splitlines() if line]
    assert (result.code, result.err) == (0, "")
    assert [line[0] for line in lines[:3]] == ["shop.models:Gate", "shop.models:Noise", "shop.models:Fine"]
    (loader,) = [
        i for i, line in enumerate(lines) if line[:3] == ["shop.models:Loader", "src/shop/models.py:24", "its"]
    ]
    assert lines[loader + 1] == ["[[tool.exportlint.verify.target]]"]
    assert lines[loader + 2] == ["model", "=", '"shop.models:Loader"']
    assert lines[-1][:3] == ["`exportlint", "verify", "--init`"]


def test_init_adds_what_is_needed_once(tmp_path: Path) -> None:
    code = (
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, recipe):\n        super().__init__()\n"
    )
    own = '[project]\nname = "net"  # mine\n'
    write(tmp_path, {"net.py": f"{code}\n    def forward(self, x):\n        return x\n", "pyproject.toml": own})
    first, again = (verify(tmp_path, "--init", ".") for _ in range(2))
    assert (first.code, first.err) == (0, "")
    assert "Added 1 target to " in first.out
    text = (tmp_path / "pyproject.toml").read_text()
    assert text.startswith(own)
    assert text.count('model = "net:Net"') == 1
    assert again.out == "Every model that needs a target already has one\n"


def test_a_list_suggests_calls(tmp_path: Path) -> None:
    code = "import torch\n\nprogram = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))\n"
    write(tmp_path, {"script.py": code})
    assert (
        verify(tmp_path, "--list").out.strip()
        == "1 call of torch.export: `--calls` runs the scripts up to these calls."
    )


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["src/shop/models.py::Gone"], "has no `Gone`"),
        (["--timeout", "soon"], "--timeout `soon`: expected seconds"),
        (["--memory", "much"], "--memory: `much` is not an amount of memory such as"),
        (["--jobs", "0"], "--jobs `0`: expected a number of at least 1"),
        (["--executor", "nowhere:made"], "--executor nowhere:made: ModuleNotFoundError"),
        (["--mode", "lenient"], "--mode: invalid choice: 'lenient'"),
        (["src/shop/__init__.py"], "there is nothing that can be verified"),
        (["--isolated", "src/shop/models.py", "--python", "nowhere/python"], "cannot be run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_told_in_one_line(argv: list[str], message: str, shop: Path) -> None:
    result = verify(shop, *argv)
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert message in result.err


@pytest.mark.thorough
def test_ctrl_c_ends_everything(tmp_path: Path) -> None:
    settings = '[[verify.target]]\nmodel = "hang:Hang"\ninputs = ["float32[2]"]\n'
    write(tmp_path, {"exportlint.toml": settings, "hang.py": HANG})
    process = subprocess.Popen(
        [sys.executable, "-m", "exportlint", "verify", "--python", sys.executable],
        cwd=tmp_path, env=environment(tmp_path), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert _within(PATIENCE, (tmp_path / "hanging").exists)
        assert running()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (130, "", "error: interrupted\n")
    assert _within(PATIENCE, lambda: not running())


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return holds()
