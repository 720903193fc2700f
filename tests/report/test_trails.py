"""What people see of a trail: at most seven steps, those that say something."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from exportlint.findings import Position, Role, Span, Step
from exportlint.report import shortened
from tests.forking import python
from tests.sampling import one_in

HEAD = "import torch\nfrom torch import nn\n\n\n"

BLOCK = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, t):
        t = self.conv(t)
        t = self.norm(t)
        return t


def same(t):
    return t


def doubled(t):
    return t * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Block(), Block()

    def forward(self, x):
"""

SHORT = {
    "code that hands the value on is left out": (
        "y = x\nz = y\nif z.any(): return x",
        ["`x` is an input of `Model.forward`"],
    ),
    "so is a call that only returns what it was passed": (
        "y = same(x)\nif y.any(): return x",
        ["`x` is an input of `Model.forward`"],
    ),
    "what such a call is passed is news": (
        "y = same(x * 2)\nif y.any(): return x",
        ["`x` is an input of `Model.forward`", "`y` is `same(x * 2)`"],
    ),
    "a call that computes stays": (
        "if doubled(x).any(): return x",
        ["`x` is an input of `Model.forward`", "passed as `t` to `doubled`", "returned by `doubled`"],
    ),
    "a method has its class": (
        "y = self.a(x)\nif y.any(): return x",
        [
            "`x` is an input of `Model.forward`",
            "passed as `t` to `Block.forward`",
            "`t` is `self.conv(t)`",
            "`t` is `self.norm(t)`",
            "`y` is `self.a(x)`",
        ],
    ),
    "the inside of calls goes first": (
        "y = self.a(x)\ny = self.b(y)\ns = y.mean()\nif s > 0: return x",
        ["`x` is an input of `Model.forward`", "`y` is `self.a(x)`", "`y` is `self.b(y)`", "`s` is `y.mean()`"],
    ),
    "and the middle of what is still long": (
        "".join(f"v{n} = {'x' if n == 0 else f'v{n - 1}'} + {n}\n" for n in range(12)) + "if v11.any(): return x",
        [
            "`x` is an input of `Model.forward`",
            "`v0` is `x + 0`",
            "7 more steps",
            "`v8` is `v7 + 8`",
            "`v9` is `v8 + 9`",
            "`v10` is `v9 + 10`",
            "`v11` is `v10 + 11`",
        ],
    ),
    "an element of what a comprehension goes over": (
        "return [bool(s) for s, t in zip(x, x)]",
        ["`x` is an input of `Model.forward`", "`s` is an element of `zip(x, x)`"],
    ),
    "a value in a comprehension": (
        "return [z for z in [r * 2 for r in x.chunk(2)] if z.sum() > 0]",
        [
            "`x` is an input of `Model.forward`",
            "`r` is an element of `x.chunk(2)`",
            "`z` is an element of `[r * 2 for r in x.chunk(2)]`",
        ],
    ),
    "one of several that are assigned": (
        "a, b = x * 2, x + 1\nif b.any(): return x",
        ["`x` is an input of `Model.forward`", "`b` is `x + 1`"],
    ),
    "an assignment with an operator": (
        "y = x + 1\ny *= 2\nif y.any(): return x",
        ["`x` is an input of `Model.forward`", "`y` is `x + 1`", "`y` is changed by `y *= 2`"],
    ),
    "a side effect needs no explanation": ("print(x)\nreturn x", []),
}


def write(directory: Path, body: str) -> None:
    """A file with a model of such a body."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    (directory / "model.py").write_text(HEAD + BLOCK + lines, encoding="utf-8")


def report(directory: Path, *flags: str) -> str:
    """What the command line says of it."""
    command = [*python(), "-m", "exportlint", "model.py", "--isolated", "--torch-version", "2.13", *flags]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False).stdout


def shown(directory: Path, *flags: str) -> list[str]:
    """The steps that the report of the one finding has."""
    out = report(directory, "--ignore", "EXP4", *flags)
    steps = [line.partition("trail: ")[2] for line in out.splitlines() if "trail: " in line]
    return [step.rpartition(" (")[0] for step in steps]


@pytest.mark.parametrize(("body", "steps"), one_in(3, SHORT.values()), ids=list(SHORT))
def test_the_steps_of_a_report(body: str, steps: list[str], tmp_path: Path) -> None:
    write(tmp_path, body)
    assert shown(tmp_path) == steps


def test_all_steps_for_who_asks_and_for_programs(tmp_path: Path) -> None:
    write(tmp_path, SHORT["the inside of calls goes first"][0])
    found = shown(tmp_path, "--verbose")
    assert len(found) == 12
    assert found[1:5] == [
        "passed as `t` to `Block.forward`",
        "`t` is `self.conv(t)`",
        "`t` is `self.norm(t)`",
        "returned by `Block.forward`",
    ]
    out = report(tmp_path, "--output-format", "json")
    (finding,) = [one for one in json.loads(out) if one["code"] == "EXP101"]
    assert [step["message"] for step in finding["trail"]] == found


@pytest.mark.parametrize("length", [0, 1, 7, 8, 50])
@pytest.mark.parametrize("role", ["value", "call", "return"])
def test_never_more_than_seven_and_the_count_is_right(length: int, role: Role) -> None:
    trail = [Step("m.py", Span(Position(n, 1), Position(n, 2)), str(n), role=role) for n in range(1, length + 1)]
    steps = shortened(trail)
    assert len(steps) == min(length, 7)
    missing = [int(step.message.split()[0]) for step in steps if step.message.endswith("more steps")]
    assert sum(missing) == length - len(steps) + len(missing)
    assert len([step for step in steps if step in trail]) == len(steps) - len(missing)
