"""Small files that would never end do end, and what is cut short is said."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType

import pytest

from exportlint.analysis import limits
from exportlint.analysis.domain.values import (
    MAX_BITS,
    MAX_LENGTH,
    MAX_WEIGHT,
    UNKNOWN,
    BoundMethod,
    Const,
    Dict,
    Partial,
    Python,
    Sequence,
    TorchModule,
    Tuple,
    Union,
    Value,
    constant,
)
from exportlint.analysis.project import Project
from exportlint.check import check_file
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Finding, Severity
from exportlint.source import from_bytes
from exportlint.units import ANALYSIS_LIMIT
from exportlint.workspace import Task, Workspace
from tests.analysis.cases import FORWARD
from tests.sampling import one_in

ROOT = Path("/nowhere")
SETTINGS = combine([Layer(ROOT, {"torch-version": (2, 13)})], ROOT)
HEAD = "import torch\nfrom torch import nn\n\n\n"
BRANCH = "        return x if x.sum() > 0 else -x\n"
PLAIN = "        return x\n"


def model(line: Callable[[int], str], count: int, end: str = BRANCH) -> str:
    return FORWARD + "".join(f"        {line(i)}\n" for i in range(count)) + end


def check(text: str, project: Project | None = None) -> list[Finding]:
    return check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), project or Project(), SETTINGS)


def codes(text: str, project: Project | None = None) -> list[str]:
    return [finding.code for finding in check(text, project)]


def parts_that_double(count: int) -> str:
    first = "class M0(nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
    one = (
        "class M{}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = M{}()\n        self.b = M{}()\n\n    def forward(self, x):\n"
        "        return self.a(x) + self.b(x)\n\n\n"
    )
    last = f"class Last(M{count - 1}):\n    def forward(self, x):\n        x = super().forward(x)\n{BRANCH}"
    return HEAD + first + "".join(one.format(i, i - 1, i - 1) for i in range(1, count)) + last


BOMBS = {
    "a number that is squared": "n = 10\n" + "n = n * n\n" * 40,
    "a negative number that is squared": "n = -10\n" + "n = -(n * n)\n" * 40,
    "a text that doubles": "s = 'abcdefgh'\n" + "s = s + s\n" * 40,
    "a text that an f-string doubles": "s = 'abcdefgh'\n" + "s = f'{s}{s}'\n" * 40,
    "a tuple in a tuple": "t = x\n" + "t = (t, t)\n" * 40,
    "a list in a dictionary": "t = x\n" + "t = {'a': [t], 'b': t}\n" * 40,
    "a partial of partials": "import functools\nt = len\n" + "t = functools.partial(t, t)\n" * 40,
    "modules in modules": "t = nn.ReLU()\n" + "t = nn.Sequential(t, t)\n" * 40,
    "alternatives": "t = x\n" + "".join(f"if self.f{i}: t = (t, {i})\nelse: t = [t, '{i}']\n" for i in range(40)),
    "a text of all that": "t = x\n" + "t = (t, str(t), [t])\n" * 40,
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=list(BOMBS))
def test_what_doubles_ends(bomb: str) -> None:
    text = FORWARD + "".join(f"        {line}\n" for line in bomb.splitlines()) + BRANCH
    assert codes(text) == ["EXP101"]


def test_modules_that_hold_two_of_the_one_before_end() -> None:
    assert codes(parts_that_double(40)) == ["EXP101"]


def test_functions_that_make_objects_of_two_that_the_one_before_made_end() -> None:
    made = "class Out:\n    def __init__(self, value):\n        self.value = value\n\n\n"
    made += "def f0(x):\n    return Out(x)\n\n\n"
    one = "def f{}(x):\n    return Out(f{}(x).value + f{}(x).value)\n\n\n"
    functions = "".join(one.format(i, i - 1, i - 1) for i in range(1, 25))
    assert codes(made + functions + model(lambda _: "x = f24(x).value", 1)) == ["EXP101"]


def test_globals_that_double_end() -> None:
    assert codes("n = 10\n" + "n = n * n\n" * 40 + model(lambda _: "y = x[:n]", 1)) == ["EXP101"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**MAX_BITS - 1, None),
        (2**MAX_BITS, Python("int")),
        (-(2**MAX_BITS), Python("int")),
        ("a" * MAX_LENGTH, None),
        ("a" * (MAX_LENGTH + 1), Python("str")),
        (1e308, None),
        (None, None),
        (True, None),
    ],
)
def test_constants_are_bounded(value: object, expected: Value | None) -> None:
    assert constant(value) == (expected or Const(value))


HOLDERS: dict[str, Callable[[Value], Value]] = {
    "tuple": lambda v: Tuple((v, v)),
    "sequence": lambda v: Sequence(Tuple((v, v))),
    "dict": lambda v: Dict((("a", v), ("b", v)), v),
    "union": lambda v: Union((Tuple((v,)), Sequence(v))),
    "partial": lambda v: Partial(v, (v,), (("a", v),)),
    "module": lambda v: TorchModule("torch.nn.Sequential", (v, v)),
    "method": lambda v: BoundMethod(Tuple((v, v)), "append"),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=list(HOLDERS))
def test_values_are_bounded(hold: Callable[[Value], Value]) -> None:
    values = []
    for _ in range(2):
        value: Value = UNKNOWN
        for _ in range(100):
            value = hold(value)
            assert value.weight <= MAX_WEIGHT
        values.append(value)
    assert values[0] == values[1]
    assert hash(values[0]) == hash(values[1])


def test_a_dictionary_of_many_entries_keeps_that_they_may_be_anything() -> None:
    assert Dict(tuple((i, UNKNOWN) for i in range(MAX_WEIGHT))) == Dict((), UNKNOWN)
    assert Dict(tuple((i, Const(i)) for i in range(MAX_WEIGHT))) == Dict((), Python())


def cascade(depth: int, before: str = "", behind: str = "") -> str:
    functions = "".join(f"def f{i}(a):\n    return {before}f{i + 1}(a){behind}\n\n\n" for i in range(depth))
    last = f"def f{depth}(a):\n    return a if a.sum() > 0 else -a\n\n\n"
    return functions + last + model(lambda _: "x = f0(x)", 1, PLAIN)


def bases(count: int) -> str:
    first = f"class M0(nn.Module):\n    def forward(self, x):\n{BRANCH}\n\n"
    return HEAD + first + "\n\n".join(f"class M{i}(M{i - 1}):\n    pass\n" for i in range(1, count + 1))


def test_what_is_followed_to_the_end() -> None:
    assert codes(cascade(limits.MAX_DEPTH - 2)) == ["EXP101"]
    assert codes(bases(limits.MAX_BASES - 2)) == ["EXP101"]


CUT_SHORT = {
    "calls": (cascade(limits.MAX_DEPTH), "calls are nested more than"),
    "bases": (bases(limits.MAX_BASES + 1), "it inherits from more than"),
    "code": (cascade(limits.MAX_DEPTH - 2, "[" * 80, "]" * 80), "its code is nested too deeply"),
}


@pytest.mark.parametrize(("text", "why"), CUT_SHORT.values(), ids=list(CUT_SHORT))
def test_what_is_cut_short_is_said_at_the_class(text: str, why: str) -> None:
    found = [finding for finding in check(text) if finding.code == ANALYSIS_LIMIT]
    assert found
    assert found[0].severity is Severity.WARNING
    assert why in found[0].message
    row = found[0].span.start.row
    name = found[0].message.split("`")[1]
    assert text.splitlines()[row - 1].startswith(f"class {name}")


GROWS = HEAD + (
    "def grown(t, n):\n    return [t] if n == 0 else [*grown(t, n - 1), t.sum()]\n\n\n"
    "class Model(nn.Module):\n    def forward(self, x):\n        return len(grown(x, 30))\n"
)
"""A recursive function that is run several times until its result grows no more."""


def test_recursion_that_is_cut_short_names_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes(GROWS) == []
    monkeypatch.setattr(limits, "MAX_RUNS", 1)
    found = check(GROWS)
    assert [finding.code for finding in found] == [ANALYSIS_LIMIT]
    assert "a recursive function still returns new values" in found[0].message
    assert "(in `grown`, line 5 of `model`)" in found[0].message


TREES = (
    HEAD
    + """
def mapped(fn, tree):
    if isinstance(tree, dict):
        return nested(fn, tree)
    if isinstance(tree, list):
        return [mapped(fn, x) for x in tree]
    if isinstance(tree, tuple):
        return tuple(mapped(fn, x) for x in tree)
    return fn(tree)


def nested(fn, tree):
    found = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            found[key] = nested(fn, value)
        else:
            found[key] = mapped(fn, value)
    return found


class Model(nn.Module):
    def forward(self, x, outputs: dict):
        outputs["x"] = x
        outputs = nested(lambda t: t[0], outputs)
        outputs = nested(lambda t: t[0], outputs)
        outputs = nested(lambda t: t[0], outputs)
        if outputs["x"].sum() > 0:
            return outputs
        return x
"""
)
"""Functions that call each other and return containers with what the other ones made inside."""


def test_containers_in_the_results_of_recursive_calls_do_not_multiply() -> None:
    assert ANALYSIS_LIMIT not in codes(TREES)


BRANCHES_THAT_RECUR = (
    HEAD
    + """
def smooth(x, kernels, d):
    if d < 0:
        return x.clone()

    def true_fn(x, kernels):
        return smooth(x, kernels, d - 1)

    def false_fn(x, kernels):
        return smooth(x * kernels, kernels, d - 1)

    return torch.cond((kernels[0] == 1).reshape(()), true_fn, false_fn, (x, kernels))


class Model(nn.Module):
    def forward(self, x, y):
        return smooth(x, y, x.dim() - 1)
"""
)
"""Both branches of `torch.cond` call the function that they are in."""


def test_branches_that_recur_do_not_double() -> None:
    assert codes(BRANCHES_THAT_RECUR) == []


def test_what_is_cut_short_is_not_kept_for_other_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_RUNS", 1)
    again = GROWS[GROWS.index("class Model") :].replace("Model", "Other")
    assert codes(f"{GROWS}\n\n{again}") == [ANALYSIS_LIMIT, ANALYSIS_LIMIT]


def test_a_limit_names_the_function_that_ran_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = check(cascade(limits.MAX_DEPTH))
    assert f"(in `f{limits.MAX_DEPTH - 2}`, line " in found[0].message
    monkeypatch.setattr(limits, "MAX_STEPS", 50)
    monkeypatch.setattr(limits, "MAX_STEPS_PER_LINE", 0)
    calls = "".join(f"        x = f{i}(x)\n" for i in range(3))
    functions = "".join(
        f"def f{i}(a):\n{'    a = a + 1' + chr(10)}" + "    a = a + a\n" * 8 + "    return a\n\n\n" for i in range(3)
    )
    found = check(HEAD + functions + "class Model(nn.Module):\n    def forward(self, x):\n" + calls + PLAIN)
    assert "it takes too many evaluations (in `f" in found[0].message


def test_too_many_evaluations_are_said_at_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_STEPS", 100)
    text = model(lambda i: f"y{i} = f(g(h(x, {i})))", 100)
    assert codes(text) == ["EXP101"]
    monkeypatch.setattr(limits, "MAX_STEPS_PER_LINE", 1)
    assert codes(text) == [ANALYSIS_LIMIT]


def clock(step: float) -> Callable[[], float]:
    """A clock that is `step` seconds further each time somebody looks."""
    times = iter(range(10**9))
    return lambda: next(times) * step


def test_too_much_time_is_said_at_the_class() -> None:
    text = model(lambda i: f"y{i} = f(g(h(x, {i})))", 2_000)
    assert codes(text, Project(clock=clock(0.001))) == ["EXP101"]
    found = check(text, Project(clock=clock(3)))
    assert [finding.code for finding in found] == [ANALYSIS_LIMIT]
    assert "20 s of processor time" in found[0].message


def test_too_much_time_for_a_file_is_said_at_the_first_class_that_is_left_out() -> None:
    one = "class M{}(nn.Module):\n    def forward(self, x):\n" + BRANCH
    text = HEAD + "\n\n".join(one.format(i) for i in range(100))
    found = check(text, Project(clock=clock(1)))
    limited = [finding for finding in found if finding.code == ANALYSIS_LIMIT and finding.severity is Severity.WARNING]
    assert len(limited) == 1
    assert "the rest of this file" in limited[0].message
    assert 20 < sum(finding.code == "EXP101" for finding in found) < 60


def test_too_much_time_for_fixes_leaves_the_findings() -> None:
    text = model(lambda i: f"y{i} = x[{i}].item()", 30)
    found = check(text, Project(clock=clock(1)))
    assert sum(finding.code == "EXP201" for finding in found) == 30
    assert [f.severity for f in found if f.code == ANALYSIS_LIMIT] == [Severity.INFO]


def test_a_helper_of_the_constructor_may_build_many_layers() -> None:
    made = "".join(f"        self.l{i} = nn.Linear(3, 3)\n" for i in range(500))
    text = (
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.build()\n\n"
        f"    def build(self):\n{made}        self.last = nn.Linear(3, 3)\n\n"
        f"    def forward(self, x):\n        x = self.last(x)\n{BRANCH}"
    )
    assert codes(HEAD + text) == ["EXP101"]


def test_except_star_is_followed_as_except_is() -> None:
    if sys.version_info < (3, 11):
        pytest.skip("new in Python 3.11")
    text = FORWARD + "        try:\n            if x.sum() > 0:\n                x = x + 1\n{}        return x\n"
    star = text.format("        except* ValueError:\n            pass\n")
    plain = text.format("        except ValueError:\n            pass\n")
    assert codes(star) == codes(plain) == ["EXP101"]


def test_a_loop_hands_a_value_on_through_many_variables() -> None:
    names = "abcdefghij"
    moves = "".join(f"            {one} = {other}\n" for one, other in pairwise(names))
    text = FORWARD + "".join(f"        {name} = 0\n" for name in names)
    text += (
        f"        for _ in range(12):\n            if a > 0:\n                pass\n{moves}            j = x.sum()\n"
    )
    assert "EXP101" in codes(text + PLAIN)


# --- growth


def work(text: str) -> int:
    """How many functions of exportlint, and generators, are entered while a file is looked at."""
    count = 0

    def enter(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and "exportlint" in frame.f_code.co_filename

    workspace = Workspace({ROOT / "model.py": text.encode()})
    task = Task(ROOT / "model.py", SETTINGS)
    workspace.lint(task)  # what is made once is made
    workspace.forget(task.path)
    sys.setprofile(enter)
    try:
        unit = workspace.lint(task)
        unit.suppressions.apply(unit.findings, SETTINGS.rules, "model.py", "non-strict")
    finally:
        sys.setprofile(None)
    return count


FAMILIES: dict[str, Callable[[int], str]] = {
    "lines": lambda n: model(lambda i: f"y{i} = x + {i}", n),
    "a chain": lambda n: model(lambda i: f"x = x + {i}", n),
    "ifs": lambda n: model(lambda i: f"if self.f{i}: y{i} = x + {i}", n),
    "elifs": lambda n: model(lambda i: f"{'elif' if i else 'if'} self.f{i}: z = {i}", n),
    "returns": lambda n: model(lambda i: f"if self.f{i}: return x + {i}", n),
    "classes": lambda n: HEAD + "".join(f"class A{i}:\n    def forward(self, x):\n{PLAIN}\n\n" for i in range(n)),
    "parts": lambda n: "".join(f"class P{i}(nn.Module):\n    def forward(self, x):\n{PLAIN}\n\n" for i in range(n))
    + FORWARD.replace("    def forward", "    def __init__(self):\n        super().__init__()\n"
    + "".join(f"        self.p{i} = P{i}()\n" for i in range(n)) + "\n    def forward")
    + "".join(f"        x = self.p{i}(x)\n" for i in range(n)) + BRANCH,
    "comments that suppress": lambda n: model(lambda i: f"print(x, {i})  # exportlint: ignore[EXP605]", n, PLAIN),
    "comments that suppress nothing": lambda n: model(lambda i: f"y{i} = x  # exportlint: ignore[EXP101]", n),
    "ranges": lambda n: model(
        lambda i: f"# exportlint: disable[EXP101]\n        y{i} = x\n        # exportlint: enable[EXP101]", n
    ),
    "ranges without end": lambda n: model(lambda i: f"# exportlint: disable[EXP101]\n        y{i} = x", n),
    "selectors": lambda n: "x = 1  # exportlint: ignore[" + "EXP101, " * n + "]\n",
}  # fmt: skip


@pytest.mark.parametrize("family", one_in(4, FAMILIES))
def test_work_grows_with_the_size(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exportlint.check.MAX_FIX_SECONDS", -1)  # a fix is about a whole function
    once, twice, four_times = (work(FAMILIES[family](n)) for n in (100, 200, 400))
    assert four_times - twice <= 2.2 * (twice - once)


def test_the_page_states_the_limits() -> None:
    page = (Path(__file__).parents[2] / "rules" / "EXP006-analysis-limit.md").read_text(encoding="utf-8")
    rows = [f"| `{name}` | {bound.value:,} {bound.unit} | {bound.scope} |" for name, bound in limits.bounds().items()]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows
