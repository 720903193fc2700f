"""Fixes are kept if torch.export bears them out, and taken back otherwise."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from exportlint.verify.bench import Objection
from exportlint.verify.subsets import largest
from tests.cli import conftest
from tests.cli.runner import Result, Run, write

root, run, marks = conftest.root, conftest.run, conftest.marks

CONFIG = f"""\
verify.python = {sys.executable!r}
dynamic-dims = []
"""

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
{body}


def get_inputs():
    return [torch.ones(2, 3)]
"""

BRANCH = "        if x.sum() > 0:\n            return x + 1\n        return x * 2"


def net(*lines: str) -> str:
    return NET.format(body="\n".join(f"        {line}" for line in lines))


def prove(root: Path, run: Run, files: dict[str, str]) -> tuple[Result, dict[str, str]]:
    """What is said, and what becomes of the files."""
    write(root, {"exportlint.toml": CONFIG, **files})
    result = run("check", "--fix", "--verify", ".")
    return result, {name: (root / name).read_text() for name in files}


@pytest.mark.thorough
def test_a_fix_of_a_rule_is_kept_if_a_target_runs_it(root: Path, run: Run) -> None:
    helper = "import torch\n\n\ndef moved(x):\n    if x.sum() > 0:\n        return x + 1\n    return x * 2\n"
    other = "\n\nclass Other(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n\n"
    other += "    def forward(self, x):\n" + BRANCH + "\n"
    files = {
        "net.py": NET.format(body=BRANCH) + other,
        "helper.py": helper,
        "uses.py": "from helper import moved\n" + net("return moved(x)"),
        "fails.py": NET.format(body=BRANCH).replace(
            "def get_inputs", "raise OSError('no weights')\n\n\ndef get_inputs"
        ),
    }
    result, texts = prove(root, run, files)
    where = "torch.where(x.sum() > 0, x + 1, x * 2)"
    assert texts["net.py"] == files["net.py"].replace(BRANCH.lstrip(), f"return {where}", 1)
    assert texts["helper.py"].endswith(f"def moved(x):\n    return {where}\n")
    assert texts["uses.py"] == files["uses.py"]
    assert texts["fails.py"] == files["fails.py"]
    assert result.err.splitlines() == [
        f"warning: {place}: the fix of EXP101 tensor-branch is not kept: unproven: {why}"
        for place, why in (
            ("fails.py:7:12", "`fails:Net` cannot be built: import: OSError: no weights (line 12 of fails.py)"),
            ("net.py:21:12", "`net:Net` does not run it"),
        )
    ]
    assert result.code == 1
    assert "(2 fixed, 2 remaining)" in result.out


@pytest.mark.thorough
def test_a_class_that_cannot_be_exported_says_nothing_of_the_fixes_of_others(root: Path, run: Run) -> None:
    shared = "def moved(x):\n    if x.sum() > 0:\n        return x + 1\n    return x * 2\n\n\n"
    stuck = "\n\nclass Stuck(nn.Module):\n    def forward(self, x):\n"
    stuck += "        x = moved(x)\n        return x * max(x.detach().flatten().tolist())\n"
    broken = stuck.replace("Stuck", "Broken").replace(
        "def forward", "def __init__(self):\n        raise OSError\n\n    def forward"
    )
    source = net("return moved(x)").replace("class Net", shared + "class Net") + stuck + broken
    result, texts = prove(root, run, {"net.py": source})
    assert "return torch.where(x.sum() > 0, x + 1, x * 2)" in texts["net.py"], result.err


@pytest.mark.thorough
@pytest.mark.usefixtures("marks")
def test_what_is_wrong_is_taken_back(root: Path, run: Run) -> None:
    files = {
        # the first is right, the second changes results
        "wrong.py": net("y = x + 1  # -> y = 1 + x", "return y * 2  # -> return y * 3"),
        # the first is needed for export, the second gives the same and cannot be exported
        "unexportable.py": net(
            "s = 1 if x.sum() > 0 else 1  # -> s = 1", "t = 1  # -> t = 1 if x.sum() > 0 else 1", "return x * s * t"
        ),
        # each alone would do
        "together.py": net("a = 1  # -> a = 0", "b = 1  # -> b = 0", "return x * max(a, b)"),
        # neither alone would do
        "only_both.py": net("a = x * 2  # -> a = x * 4", "return a + a  # -> return a"),
        # what stays cannot be exported
        "stuck.py": net("y = x + 1  # -> y = 1 + x", "return y if x.sum() > 0 else x"),
        # it writes to its input, which whoever calls it sees
        "writes.py": net("x += 1  # -> x = x + 1", "return x"),
        # a later call
        "counts.py": net("n = self.__dict__.get('n', 0)  # -> n = 0", "self.__dict__['n'] = n + 1", "return x + n"),
        # the gradient
        "detached.py": net("return x * 2  # -> return x.detach() * 2"),
    }  # fmt: skip
    result, texts = prove(root, run, files)
    kept = {
        "wrong.py": [True, False],
        "unexportable.py": [True, False],
        "together.py": [True, False],
        "only_both.py": [True, True],
        "stuck.py": [False],
        "writes.py": [False],
        "counts.py": [False],
        "detached.py": [False],
    }
    found = {}
    for name, before in files.items():
        rows = [row for row, line in enumerate(before.splitlines()) if " # -> " in line]
        found[name] = [" # -> " not in texts[name].splitlines()[row] for row in rows]
    assert found == kept
    said = dict(
        re.findall(r"^warning: (\w+\.py):\d+:9: the fix of EXP101 tensor-branch is not kept: (.*)$", result.err, re.M)
    )
    assert said.keys() == {name for name, ones in kept.items() if not all(ones)}
    assert "`wrong:Net` behaves differently: example: 6 of 6 numbers differ" in said["wrong.py"]
    assert re.search(r"`unexportable:Net` cannot be exported: .*\(unexportable.py:8\)", said["unexportable.py"])
    assert "`together:Net` behaves differently: example" in said["together.py"]
    assert re.search(r"`stuck:Net` cannot be exported: .*\(stuck.py:8\)", said["stuck.py"])
    assert "`writes:Net` behaves differently: example: the inputs after the call" in said["writes.py"]
    assert "`counts:Net` behaves differently: a later call" in said["counts.py"]
    assert "`detached:Net` behaves differently: gradients" in said["detached.py"]


@pytest.mark.thorough
@pytest.mark.usefixtures("marks")
def test_a_fix_after_which_the_program_is_still_narrower_is_taken_back(root: Path, run: Run) -> None:
    config = CONFIG.replace("[]", "[0]")
    still = net("y = x + 1  # -> y = 1 + x", "return y if x.shape[0] > 5 else x")
    mended = net("n = 1 if x.shape[0] > 5 else 1  # -> n = 1", "return x * n")
    write(root, {"exportlint.toml": config, "still.py": still, "mended.py": mended})
    result = run("check", "--fix", "--verify", ".")
    assert (root / "still.py").read_text() == still
    assert "        n = 1\n" in (root / "mended.py").read_text()
    (line,) = result.err.splitlines()
    assert line.startswith(
        "warning: still.py:7:9: the fix of EXP101 tensor-branch is not kept: `still:Net` is still narrower: "
    )


def test_nothing_is_written_without_a_python_that_can_prove_it(root: Path, run: Run) -> None:
    text = NET.format(body=BRANCH)
    write(root, {"exportlint.toml": 'verify.python = "no/python"\n', "net.py": text})
    result = run("check", "--fix", "--verify", ".")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: `")
    assert (root / "net.py").read_text() == text


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (
            ["--verify", "."],
            "--verify checks fixes, so it needs --fix; to check the code as it is, run `exportlint verify`",
        ),
        (["--verify", "--fix", "-"], "--verify imports files, so it cannot be used with standard input"),
    ],
)
def test_wrong_use(run: Run, argv: list[str], error: str) -> None:
    result = run("check", *argv)
    assert (result.code, result.err) == (2, f"error: {error}\n")


EAGER, EXPORT = Objection("differs", in_eager=True), Objection("fails")


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (lambda s: None, "abcde"),
        (lambda s: EAGER if "c" in s else None, "abde"),
        (lambda s: EAGER if "c" in s or "e" in s else None, "abd"),
        (lambda s: EAGER if "c" in s else EXPORT if not {"a", "d"} <= s else None, "abde"),
        (lambda s: EXPORT if not {"a", "d"} <= s or "e" in s else None, "abcd"),
        (lambda s: EAGER if {"a", "b"} <= s else None, "acde"),
        (lambda s: EXPORT if s else None, ""),
        (lambda s: EAGER if s else None, ""),
    ],
)
def test_the_most_that_holds_is_found(test: Callable[[set[str]], Objection | None], expected: str) -> None:
    def counted(items: Sequence[str]) -> Objection | None:
        assert len(set(items)) == len(items)
        return test(set(items))

    chosen, against = largest("abcde", counted, lambda o: o.in_eager, lambda items, _: False)
    assert "".join(sorted(chosen)) == expected
    assert set(against) == set("abcde") - set(expected)


def test_the_search_ends_where_leaving_out_is_no_use() -> None:
    asked = []

    def test(items: Sequence[str]) -> Objection:
        asked.append("".join(items))
        return EXPORT

    chosen, against = largest("abcde", test, lambda o: o.in_eager, lambda items, _: True)
    assert (chosen, against) == ([], dict.fromkeys("abcde", EXPORT))
    assert asked == ["abcde", "abcde"]
