"""How the cost of a file grows with its size: processor time and memory of families of generated files.

    python benchmarks/growth.py [FAMILY ...] [--size N] [--seconds S] [--quick] [--json FILE]

Each family has a size up to which its cost should be linear, such as 10,000 classes. Lints it at an eighth, a quarter,
half and all of that without cache, or at N, 2 N, 4 N and 8 N, each in a process limited to S seconds and 4 GiB. Prints
the processor seconds without those of size 1, the growth exponent (1: linear, 2: quadratic; the slope of the
line that fits the logarithms of all times from 0.1 s), the peak memory, and what was reported at the largest size.
EXP006 there means that the analysis was cut short, so the exponent says little. `--json` has all that was measured up
to now after each size.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HEAD = "import torch\nfrom torch import nn\n\n\n"
MODEL = HEAD + "class Model(nn.Module):\n"
FORWARD = MODEL + "    def forward(self, x):\n"
BRANCH = "        return x if x.sum() > 0 else -x\n"
MEMORY = 4 * 2**30
LEAST = 0.1
"""Seconds below which the start of a process says more than the file."""


def body(line: Callable[[int], str], n: int, end: str = BRANCH) -> str:
    """A `forward` of `n` lines."""
    return FORWARD + "".join(f"        {line(i)}\n" for i in range(n)) + end


def _constructor(line: Callable[[int], str], n: int) -> str:
    made = "".join(f"        {line(i)}\n" for i in range(n))
    built = "    def __init__(self):\n        super().__init__()\n        self.build()\n\n    def build(self):\n"
    return f"{MODEL}{built}{made}\n    def forward(self, x):\n        y = self.m0(x)\n{BRANCH}"


def _classes(n: int) -> str:
    one = "class M{}(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n"
    return HEAD + "\n\n".join(one.format(i) for i in range(n))


def _bases(n: int) -> str:
    first = "class M0(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n\n\n"
    return HEAD + first + "\n\n".join(f"class M{i}(M{i - 1}):\n    pass\n" for i in range(1, n))


def _supers(n: int) -> str:
    first = "class M0(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n\n\n"
    one = "class M{}(M{}):\n    def forward(self, x):\n        return super().forward(x)\n"
    return HEAD + first + "\n\n".join(one.format(i, i - 1) for i in range(1, n))


def _helpers(n: int) -> str:
    functions = "".join(f"def f{i}(a):\n    return a * {i}\n\n\n" for i in range(n))
    calls = "".join(f"        x = f{i}(x)\n" for i in range(n))
    return HEAD + functions + FORWARD.removeprefix(HEAD) + calls + BRANCH


def _cascade(n: int) -> str:
    functions = "".join(f"def f{i}(a):\n    return f{i + 1}(a) + 1\n\n\n" for i in range(n))
    last = f"def f{n}(a):\n    return a\n\n\n"
    return HEAD + functions + last + FORWARD.removeprefix(HEAD) + "        x = f0(x)\n" + BRANCH


def _parts(n: int) -> str:
    one = "class M{}(nn.Module):\n    def forward(self, x):\n        return x * {}\n\n\n"
    parts = HEAD + "".join(one.format(i, i) for i in range(n)) + MODEL.removeprefix(HEAD)
    made = "".join(f"        self.m{i} = M{i}()\n" for i in range(n))
    calls = "".join(f"        x = self.m{i}(x)\n" for i in range(n))
    built = f"    def __init__(self):\n        super().__init__()\n{made}\n"
    return f"{parts}{built}    def forward(self, x):\n{calls}{BRANCH}"


def _disabled(n: int) -> str:
    one = "        # exportlint: disable[EXP101]\n        x = x * {}\n        # exportlint: enable[EXP101]\n"
    return FORWARD + "".join(one.format(i) for i in range(n)) + BRANCH


def _never_enabled(n: int) -> str:
    one = "        # exportlint: disable[EXP101]\n        x = x * {}\n"
    return FORWARD + "".join(one.format(i) for i in range(n)) + BRANCH


def _own_line(n: int) -> str:
    one = "        # exportlint: ignore[EXP101]\n        if x.max() > {}:\n            x = x + 1\n"
    return FORWARD + "".join(one.format(i) for i in range(n)) + BRANCH


def _elifs(n: int) -> str:
    first = "        if y == 0:\n            z = 0\n"
    ways = first + "".join(f"        elif y == {i}:\n            z = {i}\n" for i in range(1, n))
    return FORWARD.replace("(self, x)", "(self, x, y: int)") + ways + BRANCH


def _branches(n: int) -> str:
    return FORWARD + "".join(f"        if x.max() > {i}:\n            x = x + {i}\n" for i in range(n)) + BRANCH


def _tests(n: int) -> str:
    return FORWARD + "".join(f"        if self.f{i}:\n            y{i} = x + {i}\n" for i in range(n)) + BRANCH


def _nested(n: int) -> str:
    inner = "".join(f"        def f{i}(a):\n            return a * {i} + x\n\n" for i in range(n))
    return FORWARD + inner + "".join(f"        x = f{i}(x)\n" for i in range(n)) + BRANCH


def _inner_calls(n: int) -> str:
    """Functions inside each other, up to 15, again and again."""
    depth = 15
    one = "".join(f"{'    ' * (2 + d)}def f{d}(a):\n" for d in range(depth))
    ends = "".join(f"{'    ' * (2 + d)}return {f'f{d}(a)' if d < depth else 'a'} * 2\n" for d in range(depth, 0, -1))
    return FORWARD + (one + ends + "        x = f0(x)\n") * (n // depth) + BRANCH


def _methods(n: int) -> str:
    methods = "".join(f"    def m{i}(self, x):\n        return x * {i}\n\n" for i in range(n))
    return (
        MODEL
        + methods
        + FORWARD.removeprefix(MODEL)
        + "".join(f"        x = self.m{i}(x)\n" for i in range(n))
        + BRANCH
    )


def _long_methods(n: int) -> str:
    """Classes whose methods have 500 lines each."""
    lines = "".join(f"        y{i} = x * {i}\n" for i in range(500))
    one = "class M{}(nn.Module):\n    def forward(self, x):\n" + lines + BRANCH + "\n\n"
    return HEAD + "".join(one.format(i) for i in range(n))


def _trails(n: int) -> str:
    """Branches of which each is on what all those before have led to."""
    return FORWARD + "".join(f"        x = x * {i} + 1\n        x = x if x.sum() > 0 else -x\n" for i in range(n))


def _notebook(n: int) -> str:
    """Cells of which each has a model."""
    head: dict[str, object] = {
        "cell_type": "code",
        "source": HEAD,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    one = "class M{}(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n"
    cells = [head, *({**head, "source": one.format(i)} for i in range(n))]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _exports(n: int) -> str:
    calls = "".join(f"p{i} = torch.export.export(Model(), (torch.ones(2, {i + 2}),))\n" for i in range(n))
    return FORWARD + "        return x * 2\n\n\n" + calls


def _imports(n: int) -> str:
    return "".join(f"import json as j{i}\nfrom os import path as p{i}\n" for i in range(n)) + body(lambda _: "pass", 1)


TEXTS: dict[str, Callable[[int], str]] = {
    "operators": lambda n: body(lambda i: f"y{i} = torch.ops.aten.add.Tensor(x, {i}.0) * 0.5", n),
    "chain": lambda n: body(lambda i: f"x = x * {i}.5", n),
    "constants": lambda n: body(lambda i: f"y{i} = {i}", n),
    "items": lambda n: body(lambda i: f"y{i} = x[{i}].item()", n),
    "items-of-chain": lambda n: body(lambda i: f"x = x + x[{i}].item()", n),
    "numbers": lambda n: body(lambda i: f"y{i} = int(x[{i}])", n),
    "branches": _branches,
    "tests": _tests,
    "elifs": _elifs,
    "returns": lambda n: body(lambda i: f"if self.f{i}: return x + {i}", n),
    "nested-returns": lambda n: body(lambda i: f"if x.max() > {i}: return x + {i}", n),
    "attributes": lambda n: body(lambda i: f"self.a{i} = x + {i}", n),
    "counters": lambda n: body(lambda i: f"self.a{i} = self.a{i} + 1", n),
    "appends": lambda n: body(lambda i: f"self.a.append(x + {i})", n),
    "keys": lambda n: body(lambda i: f"d[{i}] = x + {i}", n).replace("        d[0]", "        d = {}\n        d[0]"),
    "prints": lambda n: body(lambda i: f"print(x, {i})", n),
    "classes": _classes,
    "bases": _bases,
    "supers": _supers,
    "helpers": _helpers,
    "cascade": _cascade,
    "parts": _parts,
    "layers": lambda n: _constructor(lambda i: f"self.m{i} = nn.Linear(3, 3)", n),
    "buffers": lambda n: _constructor(lambda i: f"self.register_buffer('m{i}', torch.zeros(3))", n),
    "ignored": lambda n: body(lambda i: f"y{i} = x[{i}].item()  # exportlint: ignore[EXP201]", n),
    "noqa": lambda n: body(lambda i: f"y{i} = x + {i}  # noqa: EXP101", n),
    "own-line": _own_line,
    "unused": lambda n: body(lambda i: f"y{i} = x + {i}  # exportlint: ignore[EXP101]", n),
    "disabled": _disabled,
    "never-enabled": _never_enabled,
    "comment": lambda n: body(lambda _: "pass", 1) + "# noqa: " + "exportlint: ignore " * n * 6 + "\n",
    "spaces": lambda n: body(lambda _: "pass", 1) + "#" + " " * n * 100 + "exportlint: x\n",
    "codes": lambda n: body(lambda _: "pass", 1) + "# exportlint: ignore[" + "EXP101, " * n * 12 + "]\n",
    "word": lambda n: body(lambda _: "pass", 1) + "# exportlint: " + "ignore" * n * 16 + "\n",
    "selector": lambda n: body(lambda _: "pass", 1) + "# exportlint: ignore[" + "EXP101" * n * 16 + "]\n",
    "sum": lambda n: body(lambda _: "y = " + " + ".join(["x"] * n), 1),
    "and": lambda n: body(lambda _: "y = " + " and ".join(["z.ndim"] * n), 1),
    "dots": lambda n: body(lambda _: "y = x" + ".relu()" * min(n, 2000), 1),
    "list": lambda n: body(lambda _: "y = [" + "x, " * n + "]", 1),
    "dict": lambda n: body(lambda _: "y = {" + "".join(f"{i}: x, " for i in range(n)) + "}", 1),
    "call": lambda n: body(lambda _: "y = f(" + "x, " * n + ")", 1),
    "imports": _imports,
    "nested": _nested,
    "inner-calls": _inner_calls,
    "methods": _methods,
    "long-methods": _long_methods,
    "trails": _trails,
    "exports": _exports,
    "f-string": lambda n: body(lambda _: 'y = f"' + "{x.shape} text " * n + '"', 1),
    "f-string-data": lambda n: body(lambda _: 'y = f"' + "{x} text " * n + '"', 1),
    "number": lambda n: body(lambda _: "y = 0x" + "f" * n * 20, 1),
    "warnings": lambda n: "import numpy as np\n" + body(lambda i: f"y{i} = x + np.random.rand()", n),
    "notebook": _notebook,
    "lines": lambda n: HEAD + "".join(f"def f{i}(a, b=1):\n    return a + b * {i}\n\n\n" for i in range(n)),
    "string": lambda n: body(lambda _: 'y = "' + "text " * n * 20 + '"', 1),
    "docstring": lambda n: body(lambda _: '"""' + "text\n        " * n + '"""', 1),
    "globals": lambda n: HEAD + "g0 = 1\n" + "".join(f"g{i} = g{i - 1} + 1\n" for i in range(1, n)) + body(
        lambda _: f"y = x + g{n - 1}", 1
    ).removeprefix(HEAD),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Family:
    """Files of growing size, up to the `largest`, and how they are linted."""

    text: Callable[[int], str]
    largest: int = 5_000
    options: tuple[str, ...] = ("--output-format", "json")
    suffix: str = ".py"


LARGEST = {"classes": 10_000, "parts": 10_000, "bases": 10_000, "lines": 25_000, "long-methods": 200, "globals": 10_000}
"""The sizes of other families than those of 5,000 findings: 10,000 classes, or 100,000 lines."""
FORMATS = ("full", "concise", "grouped", "jsonl", "github")
FAMILIES = {
    name: Family(text, LARGEST.get(name, 5_000), suffix=".ipynb" if name == "notebook" else ".py")
    for name, text in TEXTS.items()
} | {
    **{f"format-{name}": Family(TEXTS["items"], options=("--output-format", name)) for name in FORMATS},
    "statistics": Family(TEXTS["items"], options=("--statistics",)),
    "fix": Family(_classes, options=("--fix", "--unsafe-fixes", "--output-format", "json")),
    "fix-method": Family(_branches, options=("--fix", "--unsafe-fixes", "--output-format", "json")),
    "fix-diff": Family(_classes, options=("--diff", "--unsafe-fixes")),
    "fix-notebook": Family(_notebook, options=("--fix", "--unsafe-fixes", "--output-format", "json"), suffix=".ipynb"),
    "add-ignore": Family(TEXTS["items"], options=("--add-ignore", "--show-info")),
}


QUICK = (
    "operators",
    "items",
    "branches",
    "elifs",
    "attributes",
    "classes",
    "bases",
    "parts",
    "ignored",
    "nested",
    "lines",
)
"""Families that show most of what has grown faster than its file so far."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What linting a file took. `end` is the exit code, or why it has none; `codes` counts the findings."""

    seconds: float
    mebibytes: float
    end: str
    codes: Counter[str]


def main() -> None:
    """Print a line for each family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"{', '.join(FAMILIES)} [all]")
    parser.add_argument("--size", type=int, metavar="N", help="the smallest size [1/8 of its own, with --quick 50]")
    parser.add_argument("--quick", action="store_true", help="a few families at small sizes, for CI")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured there, too")
    parser.add_argument("--seconds", type=int, default=120, metavar="S", help="the limit of one file [120]")
    arguments = parser.parse_args()
    unknown = set(arguments.families) - FAMILIES.keys()
    if unknown:
        parser.error(f"unknown family: {', '.join(sorted(unknown))}")
    least = arguments.size or (50 if arguments.quick else None)
    measured: dict[str, dict[int, float]] = {}
    titles = ("1/8 [s]", "1/4 [s]", "1/2 [s]", "1 [s]")
    print(f"{'family':<16}{'size':>7}" + "".join(f"{t:>9}" for t in titles) + f"{'exponent':>10}{'MiB':>7}  reported")
    for name in arguments.families or (QUICK if arguments.quick else FAMILIES):
        family = FAMILIES[name]
        first = least or family.largest // 8
        sizes = [first, 2 * first, 4 * first, 8 * first]
        nothing = cost(family, 1, arguments.seconds).seconds
        times = measured[name] = {}
        print(f"{name:<16}{sizes[-1]:>7}", end="", flush=True)
        for n in sizes:
            found = cost(family, n, arguments.seconds)
            times[n] = max(found.seconds - nothing, 0.01)
            print(f"{times[n]:>9.2f}", end="", flush=True)
            if arguments.json is not None:
                arguments.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
            if found.end not in "01":
                break
        told = [(n, seconds) for n, seconds in times.items() if seconds >= LEAST]
        exponent = f"{slope(told):>10.2f}" if len(times) == len(sizes) and len(told) > 1 else f"{'-':>10}"
        codes = ", ".join(f"{count} {code}" for code, count in sorted(found.codes.items()))
        end = "" if found.end in "01" else f"{found.end} "
        print(f"{'':{9 * (len(sizes) - len(times))}}{exponent}{found.mebibytes:>7.0f}  {end}{codes}", flush=True)


def slope(times: list[tuple[int, float]]) -> float:
    """The exponent of the power of the size that fits the times best."""
    sizes, seconds = zip(*times, strict=True)
    return statistics.linear_regression(list(map(math.log, sizes)), list(map(math.log, seconds))).slope


def cost(family: Family, n: int, seconds: int) -> Cost:
    """Lint a file of a size in a process. One that takes more than `seconds` of processor time is ended."""
    with tempfile.TemporaryDirectory() as directory:
        file, output = Path(directory, f"model{family.suffix}"), Path(directory, "output.json")
        file.write_text(family.text(n), encoding="utf-8")
        options = ["--isolated", "--no-cache", *family.options]
        command = [sys.executable, "-m", "exportlint", "check", *options, str(file)]
        with output.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        code = process.returncode
        end = str(code) if code in (0, 1, 2) else f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        try:
            codes = Counter(finding["code"] for finding in json.loads(output.read_bytes()))
        except (ValueError, TypeError):
            codes = Counter()
        return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, end, codes)


if __name__ == "__main__":
    main()
