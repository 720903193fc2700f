"""A rule is two files: the script starts them, CONTRIBUTING.md shows them finished, and nothing else has to know."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.pages import DIRECTIVES
from tests.documents import CONTRIBUTING, PROJECT, blocks
from tests.patience import PATIENCE

PARTS = (
    "exportlint",
    "rules",
    "scripts",
    "tests/__init__.py",
    "tests/catalogue",
    "tests/isolation.py",
    "tests/sampling.py",
    "tests/test_catalogue.py",
)
CODE, NAME = "EXP999", "inference-mode-test"
MODULE, PAGE = "exportlint/rules/inference_mode_test.py", "rules/EXP999-inference-mode-test.md"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what knows of rules."""
    root = tmp_path / "checkout"
    for part in PARTS:
        source, copy = PROJECT / part, root / part
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    return root


def run(checkout: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *argv],
        cwd=checkout, env=environment, capture_output=True, text=True, encoding="utf-8", check=False, timeout=PATIENCE,
    )  # fmt: skip


def prove(checkout: Path, expression: str) -> subprocess.CompletedProcess[str]:
    return run(
        checkout, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", "tests/test_catalogue.py", "-k", expression
    )


def files(checkout: Path) -> dict[str, bytes]:
    return {p.relative_to(checkout).as_posix(): p.read_bytes() for p in checkout.rglob("*") if p.is_file()}


def start(checkout: Path) -> None:
    """Start the rule of the tutorial by its command."""
    (command,) = (block for block in blocks("Add a rule", "sh", CONTRIBUTING) if "new_rule" in block)
    python, *argv = shlex.split(command)
    assert (python, argv) == ("python", ["scripts/new_rule.py", CODE, NAME])
    result = run(checkout, *argv)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"wrote {MODULE}\nwrote {PAGE}\n", "")


@pytest.mark.thorough
def test_the_rule_of_the_tutorial_is_two_files(checkout: Path) -> None:
    before = files(checkout)
    start(checkout)
    (module,) = blocks("Add a rule", "python", CONTRIBUTING)
    (page,) = blocks("Add a rule", "markdown", CONTRIBUTING)
    (checkout / MODULE).write_text(module, encoding="utf-8")
    (checkout / PAGE).write_text(page, encoding="utf-8")

    shown = run(checkout, "-m", "exportlint", "rule", NAME)
    # without what only the tests read
    readable = re.sub(
        r"^```py .*$", "```python", re.sub(r"^<!-- .* -->\n", "", page, flags=re.MULTILINE), flags=re.MULTILINE
    )
    assert (shown.returncode, shown.stdout) == (0, readable)

    (bad,) = re.findall(r"```py bad\n(.*?)```", page, re.DOTALL)
    (checkout / "model.py").write_text(bad + "        return x if x.any() else -x\n", encoding="utf-8")
    for mode, severity, code in (("non-strict", "info", 0), ("strict", "error", 1)):
        argv = (
            "check",
            "model.py",
            "--isolated",
            "--no-cache",
            "--select",
            CODE,
            "--output-format",
            "concise",
            "--show-info",
            "--mode",
            mode,
        )
        found = run(checkout, "-m", "exportlint", *argv)
        assert found.stdout.startswith(
            f"model.py:7:12: {severity}[{CODE} {NAME}]: `torch.is_inference_mode_enabled()` is evaluated once"
        )
        assert ("Found 1 finding" in found.stdout, found.returncode) == (True, code)

    proved = prove(checkout, CODE)
    assert proved.returncode == 0, proved.stdout
    (passed,) = re.findall(r"(\d+) passed", proved.stdout)
    assert int(passed) >= 15
    (checkout / "model.py").unlink()
    after = files(checkout)
    assert after.keys() - before.keys() == {MODULE, PAGE}
    assert {name: after[name] for name in before} == before


@pytest.mark.thorough
def test_the_tests_say_what_is_missing(checkout: Path) -> None:
    start(checkout)
    result = prove(checkout, f"{CODE} and (page or table or linter)")
    assert result.returncode == 1
    assert "EXP999-inference-mode-test.md: nothing under `What it does`, `Why is this bad?`" in result.stdout
    assert "EXP999-inference-mode-test.md:15: no comment states a finding of inference-mode-test" in result.stdout
    assert "2 failed" in result.stdout


@pytest.mark.parametrize("formatted", ["started", "finished"])
def test_the_module_is_in_style(checkout: Path, formatted: str) -> None:
    start(checkout)
    if formatted == "finished":
        (module,) = blocks("Add a rule", "python", CONTRIBUTING)
        (checkout / MODULE).write_text(module, encoding="utf-8")
    shutil.copy(PROJECT / "pyproject.toml", checkout)
    for command in (("check", "--no-cache"), ("format", "--no-cache", "--check")):
        result = run(checkout, "-m", "ruff", *command, MODULE)
        assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("family", ["EXP1", "control-flow"])
def test_a_family_gives_its_first_free_code(checkout: Path, family: str) -> None:
    taken = {path.name[:6] for path in (checkout / "rules").glob("EXP1*")}
    free = next(f"EXP1{number:02}" for number in range(1, 100) if f"EXP1{number:02}" not in taken)
    result = run(checkout, "scripts/new_rule.py", family, "some-thing")
    assert result.stdout == f"wrote exportlint/rules/some_thing.py\nwrote rules/{free}-some-thing.md\n"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("EXP101", "some-thing"), "error: EXP101 is taken by tensor-branch"),
        (("EXP998", "tensor-branch"), "error: tensor-branch is the name of EXP101"),
        (("EXP998", "some_thing"), "error: `some_thing` is not two or more words in lower case with hyphens"),
        (("EXP998", "thing"), "error: `thing` is not two or more words"),
        (("EXP998", "Some-Thing"), "error: `Some-Thing` is not two or more words"),
        (("EXP98", "some-thing"), "error: `EXP98` is neither a code such as EXP516 nor a family (EXP1 control-flow, "),
        (("exp998", "some-thing"), "error: `exp998` is neither a code"),
        (("EXP9981", "some-thing"), "error: `EXP9981` is neither a code"),
        (("linter", "some-thing"), "error: what the linter says of itself (EXP0) comes from no fact"),
        (("EXP099", "some-thing"), "error: what the linter says of itself (EXP0) comes from no fact"),
        (("EXP998",), "usage: python scripts/new_rule.py CODE|FAMILY NAME"),
        (("--help",), "usage: python scripts/new_rule.py CODE|FAMILY NAME"),
    ],
)
def test_what_cannot_be_a_rule_is_refused_in_one_line(argv: tuple[str, ...], message: str) -> None:
    result = run(PROJECT, "scripts/new_rule.py", *argv)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1


def test_a_file_that_is_there_is_kept(checkout: Path) -> None:
    page = checkout / "rules" / "EXP998-other-thing.md"
    page.write_text("mine", encoding="utf-8")
    before = files(checkout)
    result = run(checkout, "scripts/new_rule.py", "EXP998", "some-thing")
    assert (result.returncode, result.stderr) == (2, "error: rules/EXP998-other-thing.md is there already\n")
    assert files(checkout) == before


def test_every_directive_is_described() -> None:
    assert set(re.findall(r"^ *\| `<!-- ([\w -]+): [^|]*-->` \|", CONTRIBUTING, re.MULTILINE)) == DIRECTIVES
