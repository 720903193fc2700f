"""`exportlint fix-plan` as a user runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import Result, Run, write

CONFIG = f"verify.python = {sys.executable!r}\ndynamic-dims = []\n"

MODEL = """\
import torch
from torch import nn
{first}

class Net(nn.Module):
{constructor}    def forward(self, x):
{body}


def get_inputs():
    return [torch.ones(2, 3)]
"""


def net(*lines: str, first: str = "", constructor: str = "") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return MODEL.format(body=body, first=first, constructor=constructor)


def plan(root: Path, run: Run, files: dict[str, str], *argv: str) -> Result:
    write(root, {"exportlint.toml": CONFIG, **files})
    return run("fix-plan", "net.py::Net", *argv)


JSON = ("--output-format", "json")

HELPER = "def scaled(x):\n    if x.mean() > 0:\n        return x * 2\n    return x * 3\n"

TWO_FILES = {
    "helper.py": HELPER,
    "net.py": net(
        "x = scaled(x)",
        "n = int(x.abs().sum() / 4) + 1",
        "return x * n",
        first="\nfrom helper import scaled\n",
    ),
}


def test_a_model_comes_to_export_round_by_round(root: Path, run: Run) -> None:
    result = plan(root, run, TWO_FILES, "--write")
    text = re.sub(r"\d+\.\d s", "N s", re.sub(r"GuardOn.*", "GuardOn...", result.out))
    assert result.err == ""
    assert text.startswith(
        """\
net.py::Net: fails at helper.py:2: GuardOn...
  x: float32[2, 3]

Round 1
  kept        helper.py:2:8  EXP101 tensor-branch: Choose with `torch.where`
  now fails at net.py:10: GuardOn...

Round 2
  kept        net.py:10:13  EXP202 tensor-to-number: Read the number with `.item()` (unsafe)
"""
    )
    assert "\n  now exports with equal results\n" in text
    assert (
        """
Exports with equal results: 2 fixes, 1 unsafe (2 rounds, 3 runs, N s).
With these fixes, the model accepts inputs that the original rejects: NaN: the original raises ValueError: \
cannot convert float NaN to integer, and this does not.
Wrote helper.py; net.py.
"""
        in text
    )
    assert result.code == 0
    texts = {name: (root / name).read_text() for name in TWO_FILES}
    assert "return torch.where(x.mean() > 0, x * 2, x * 3)" in texts["helper.py"]
    for name, before in TWO_FILES.items():
        changed = {line for line in texts[name].splitlines() if line not in before.splitlines()}
        assert all(f"\n+{line}\n" in result.out for line in changed)


@pytest.mark.thorough
@pytest.mark.usefixtures("marks")
def test_what_changes_results_or_is_no_help_is_not_kept(root: Path, run: Run) -> None:
    files = {
        "net.py": net(
            "x = x + 1  # ~> x = x + 2",  # changes results
            "y = x.abs()  # ~> y = abs(x)",  # is equal, and no help
            "if x.sum() > 0:  # ~> if True:",  # is equal on ones only
            "    y = y * 1",
            "else:",
            "    y = y - 9",
            "return y",
        )
    }
    result = plan(root, run, files, *JSON, "--write", "--partial")
    told = json.loads(result.out)
    said = {a["finding"]["location"]["row"]: a["verdict"] for one in told["rounds"] for a in one["attempts"]}
    assert said == {7: "undone", 8: "no help", 9: "undone"}
    whys = [a["why"] for one in told["rounds"] for a in one["attempts"] if a["verdict"] == "undone"]
    assert all(why.startswith("results change: ") for why in whys)
    assert (told["exports"], told["end"], told["files"], told["written"]) == (False, "no fix helps", [], False)
    (blocker,) = told["blockers"]
    assert (blocker["row"], blocker["finding"]["code"]) == (9, "EXP101")
    assert blocker["why"].startswith("its fix is not kept: results change: ")
    assert result.code == 1
    assert (root / "net.py").read_text() == files["net.py"]


@pytest.mark.thorough
@pytest.mark.usefixtures("marks")
def test_fixes_that_help_only_together_are_found(root: Path, run: Run) -> None:
    files = {
        "net.py": net(
            "a = x.sum() > 0  # ~> a = True",
            "b = x.mean() > 0  # ~> b = True",
            "c = x.abs()  # ~> c = abs(x)",  # is equal, and not needed
            "return c * 2 if a and b else c + c",
        )
    }
    told = json.loads(plan(root, run, files, *JSON).out)
    assert told["exports"], told
    said = {a["finding"]["location"]["row"]: a["verdict"] for one in told["rounds"] for a in one["attempts"]}
    assert said.pop(9, "no help") == "no help"
    assert said == {7: "kept", 8: "kept"}


@pytest.mark.thorough
@pytest.mark.usefixtures("marks")
def test_a_program_that_is_wrong_is_no_better_than_none(root: Path, run: Run) -> None:
    files = {
        "net.py": net(
            "self.n = getattr(self, 'n', 0) + 1",  # baked in
            "y = x * 2 if x.sum() > 0 else x + x  # ~> y = x * 2",
            "return y * self.n",
        )
    }
    result = plan(root, run, files, "--write", "--partial")
    assert re.search(r"no help +net\.py:8:9 .*\n +then diverges: .*; no fix solves that\n", result.out), result.out
    assert "\nStill fails: 0 fixes kept; no fix gets export further (" in result.out
    assert (root / "net.py").read_text() == files["net.py"]


@pytest.mark.thorough
@pytest.mark.usefixtures("marks")
def test_other_gradients_are_a_caveat_or_undo_a_fix(root: Path, run: Run) -> None:
    files = {"net.py": net("y = x * 2", "return y if y.sum() > 0 else y  # ~> return y.detach()")}
    told = json.loads(plan(root, run, files, *JSON).out)
    assert (told["exports"], told["caveat"][:21]) == (True, "has other gradients: ")
    told = json.loads(plan(root, run, files, *JSON, "--gradients").out)
    assert (told["exports"], told["caveat"]) == (False, "")
    assert [a["verdict"] for one in told["rounds"] for a in one["attempts"]] == ["undone"]


@pytest.mark.thorough
@pytest.mark.usefixtures("marks")
def test_a_minimal_plan_leaves_out_what_export_does_not_need(root: Path, run: Run) -> None:
    files = {
        "net.py": net(
            "x = x + 1  # -> x = 1 + x",
            "if x.sum() > 0:  # ~> if x is not None:",
            "    return x",
            "return x",
        )
    }
    whole = json.loads(plan(root, run, files, *JSON).out)
    least = json.loads(plan(root, run, files, *JSON, "--minimal").out)
    verdicts = [[a["verdict"] for one in told["rounds"] for a in one["attempts"]] for told in (whole, least)]
    assert verdicts == [["kept", "kept"], ["not needed", "kept"]]
    assert "+        x = 1 + x" in whole["files"][0]["diff"]
    assert "+        x = 1 + x" not in least["files"][0]["diff"]


@pytest.mark.thorough
def test_strict_mode_has_fixes_of_its_own(root: Path, run: Run) -> None:
    files = {"net.py": net("if x.sum() > 0:", "    return x + 1", "return x * 2")}
    told = json.loads(plan(root, run, files, *JSON, "--mode", "both").out)
    assert [(one["mode"], one["verdict"]) for one in told["before"]] == [("non-strict", "fails"), ("strict", "fails")]
    assert [(one["mode"], one["verdict"]) for one in told["after"]] == [
        ("non-strict", "exports"),
        ("strict", "exports"),
    ]


@pytest.mark.thorough
def test_an_assumption_of_torch_is_the_last_resort_and_said(root: Path, run: Run) -> None:
    files = {
        "net.py": net("n = x.argmax().item()", "return x * 2 if n < 100 else x  # exportlint: ignore"),
    }
    result = plan(root, run, files)
    assert re.search(r"kept +net\.py:\d+:1  torch: .*`torch\._check\(n < 100\)` \(assumption\)", result.out), result.out
    assert "1 assumption" in result.out
    assert result.code == 0
    told = json.loads(plan(root, run, files, "--no-unsafe-fixes", *JSON).out)
    assert told["end"] == "no fix helps"


@pytest.mark.thorough
def test_the_other_mode_is_named_where_it_exports(root: Path, run: Run) -> None:
    files = {"net.py": net("assert x.sum() > 0  # exportlint: ignore", "return x * 2")}
    result = plan(root, run, files, "--no-unsafe-fixes")
    assert "\nIn strict mode it exports with equal results: `--mode strict`.\n" in result.out
    assert result.code == 1


@pytest.mark.thorough
def test_a_model_that_exports_needs_nothing(root: Path, run: Run) -> None:
    result = plan(root, run, {"net.py": net("open('log.txt', 'a').write('called\\n')", "return x + 1")})
    assert (result.code, result.err) == (0, "")
    assert result.out == "net.py::Net: exports with equal results\n  x: float32[2, 3]\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("constructor", "said"),
    [
        ("import time; time.sleep(600)", "times out: timed out during build (after 5 s"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "cannot be built: crashed during build (SIGSEGV"),
        ("raise SystemExit(0)", "cannot be built: build: SystemExit: 0"),
    ],
)
def test_a_constructor_may_do_anything(root: Path, run: Run, constructor: str, said: str) -> None:
    lines = f"    def __init__(self):\n        super().__init__()\n        {constructor}\n\n"
    result = plan(root, run, {"net.py": net("return x", constructor=lines)}, "--timeout", "5")
    assert result.out.startswith(f"net.py::Net: {said}")
    assert (result.code, result.err) == (1, "")


@pytest.mark.thorough
@pytest.mark.usefixtures("marks")
def test_inputs_are_those_that_the_original_takes(root: Path, run: Run) -> None:
    source = net(
        "y = x @ torch.ones(3, 3)  # ~> y = x @ torch.ones(5, 5)",
        "return y if y.sum() > 0 else -y",
    )
    told = json.loads(plan(root, run, {"net.py": source.partition("\n\n\ndef get_inputs")[0]}, *JSON).out)
    ((attempt,),) = [one["attempts"] for one in told["rounds"]]
    assert attempt["verdict"] == "undone"
    assert attempt["why"].startswith("the model cannot be run any more: eager: RuntimeError: ")


@pytest.mark.thorough
def test_nothing_is_written_over_a_file_that_changes_meanwhile(root: Path, run: Run) -> None:
    touch = "open(__file__, 'a').write('# seen\\n')\n"
    files = {**TWO_FILES, "net.py": TWO_FILES["net.py"] + touch}
    result = plan(root, run, files, "--write")
    assert result.code == 2
    assert "nothing is written: " in result.err
    assert "changed on disk while it was being fixed" in result.err
    assert (root / "helper.py").read_text() == HELPER


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["net.py::Nett"], "{root}/net.py has no `Nett`, did you mean `Net`?"),
        (["no.py::Net"], "no.py: no such file or directory"),
        (["broken.py::Net"], "{root}/broken.py:1: invalid syntax"),
        (["net.py::helper"], "`net.py::helper` cannot be verified: net:helper: it needs `x`: give a target"),
        (["two.py"], "`two.py` has 2 models, but a plan is for a single model: write `two.py::A`, for instance"),
        (["needs.py::Needs"], "`needs.py::Needs` cannot be verified: needs:Needs: "),
        (["net.py::Net", "--rounds", "x"], "--rounds `x`: "),
        (["net.py::Net", "--partial"], "--partial has no effect without --write: add --write"),
        (["net.py::Net", "--python", "no/python"], "`"),
        ([], "the following arguments are required: TARGET; see `exportlint fix-plan --help`"),
    ],
)
def test_wrong_use(root: Path, run: Run, argv: list[str], error: str) -> None:
    needs = net("return x").replace(
        "class Net(nn.Module):\n", "class Needs(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n\n"
    )
    files = {
        "exportlint.toml": CONFIG,
        "net.py": net("return x", first="\ndef helper(x):\n    return x\n"),
        "broken.py": "class Net(:\n",
        "two.py": net("return x").replace("Net", "A") + net("return x").replace("Net", "B"),
        "needs.py": needs,
    }
    write(root, files)
    result = run("fix-plan", *argv)
    assert result.err.startswith("error: " + error.format(root=root)), result.err
    assert result.err.count("\n") == 1
    assert (result.code, result.out) == (2, "")
    assert {name: (root / name).read_text() for name in files} == files


@pytest.mark.thorough
def test_ctrl_c_leaves_all_as_it_was(root: Path) -> None:
    import signal
    import time

    from tests.patience import PATIENCE

    files = {**TWO_FILES, "exportlint.toml": CONFIG}
    files["net.py"] += (
        "\n\nimport pathlib, time\npathlib.Path(__file__).with_name('hanging').touch()\ntime.sleep(600)\n"
    )
    write(root, files)
    process = subprocess.Popen(
        [sys.executable, "-m", "exportlint", "fix-plan", "net.py::Net", "--write"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + PATIENCE
    while not (root / "hanging").exists() and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "error: interrupted\n")
    assert {name: (root / name).read_text() for name in files} == files
