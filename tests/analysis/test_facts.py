"""Facts: which of them are kept, and which is told, is not decided by which comes first."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from itertools import permutations
from pathlib import Path

import pytest

from exportlint.analysis.analyze import Interpretation
from exportlint.analysis.domain.values import Closure, Instance
from exportlint.analysis.eval.engine import Engine, Options
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.order import text_of
from exportlint.analysis.project import Project
from exportlint.analysis.results import Analysis
from exportlint.check import check_file
from exportlint.claims import Context
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Mode
from exportlint.registry import all_rules
from exportlint.source import from_bytes, read
from exportlint.syntax.definitions import Class, Module
from tests.analysis.cases import Case, cases
from tests.sampling import one_in

ROOT = Path("/nowhere")
SETTINGS = combine([Layer(ROOT, {"torch-version": (2, 13)})], ROOT)

HELPERS = {
    "a size against two numbers": ("if x.shape[0] == k:\n        return x + 1\n    return x", ("x, 1", "x, 5", "x, 7")),
    "a tensor and a number read from one": ("return 1 if k else 0", ("x, x.sum()", "x, x.sum().item()", "x, 1")),
    "numbers of two types": ("return [1, 2][int(k)]", ("x, x[0]", "x, x.long()[0]", "x, x.sum().item()")),
    "tensors from two places": ("x.add_(1)\n    return x", ("x, 1", "x + 1, 1", "self.peak, 1")),
    "a value and a size": ("return float(k) * x", ("x, x.shape[0]", "x, x.sum()", "x, 3")),
}

MODEL = """\
import torch
from torch import nn


def helper(x, k):
    {}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("peak", torch.zeros(3))

    def forward(self, x: torch.Tensor):
        return {}
"""
GUARDED = """\
from torch import nn


def helper(x):
    return x if x.sum() > 0 else -x


class Model(nn.Module):
    def plain(self, x):
        return helper(x)

    def tried(self, x):
        try:
            return helper(x)
        except Exception:
            return x

    def forward(self, x):
        return {}
"""


def told(text: str) -> list[tuple[int, str, str, str]]:
    """Row, rule, severity and message of each finding."""
    findings = check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), Project(), SETTINGS)
    return [(f.span.start.row, f.name, f.severity.value, f.message) for f in findings]


@pytest.mark.parametrize(("body", "calls"), HELPERS.values(), ids=list(HELPERS))
def test_the_order_of_calls_decides_nothing(body: str, calls: tuple[str, ...]) -> None:
    found = [
        told(MODEL.format(body, [f"helper({c})" for c in order]).replace("'", "")) for order in permutations(calls)
    ]
    assert found[0]
    assert [one for one in found if one != found[0]] == []


def test_two_claims_about_one_condition_are_both_told() -> None:
    """`== 5` is refused, and with 1 the program is wrong: both hold of torch 2.13."""
    body, calls = HELPERS["a size against two numbers"]
    findings = told(MODEL.format(body, " + ".join(f"helper({call})" for call in calls)))
    assert [(row, name) for row, name, _, _ in findings] == [(6, "size-branch"), (6, "single-batch")]


def test_what_a_try_swallows_hides_nothing_elsewhere() -> None:
    one, other = (told(GUARDED.format(f"self.{a}(x) + self.{b}(x)")) for a, b in permutations(("plain", "tried")))
    assert [found for found in one if found[0] == 5] == [found for found in other if found[0] == 5]
    assert (5, "tensor-branch", "error") in [found[:3] for found in one]


PAGES = sorted((Path(__file__).parents[2] / "rules").glob("EXP*.md"))
LIVE = (ast.AST, Module, Class, Instance, Closure, Frame, Engine)


def parts_of(value: object, seen: set[int]) -> Iterator[object]:
    """A value and all that it holds, by the fields of dataclasses and the items of containers."""
    if id(value) in seen or isinstance(value, (str, int, float, type(None))):
        return
    seen.add(id(value))
    yield value
    held: Iterable[object] = ()
    if is_dataclass(value):
        held = [getattr(value, one.name) for one in fields(value)]
    elif isinstance(value, dict):
        held = [*value, *value.values()]
    elif isinstance(value, (tuple, list, set, frozenset)):
        held = value
    for part in held:
        yield from parts_of(part, seen)


def assert_plain(module: Module, project: Project, mode: Mode) -> None:
    """Facts hold nothing of the interpreter, and give the same findings after a way through bytes."""
    found = Interpretation(module, project, Options(mode=mode)).analysis()
    assert [part for part in parts_of(found, set()) if isinstance(part, LIVE)] == []
    copied = pickle.loads(pickle.dumps(found))
    assert copied.calls == found.calls
    context = Context(mode, (2, 13))
    assert list(map(repr, reports(copied, context))) == list(map(repr, reports(found, context)))


def reports(found: Analysis, context: Context) -> Iterator[tuple[object, ...]]:
    """What rules say of facts, all but the fixes."""
    for fact in found.facts:
        for rule in all_rules():
            if isinstance(fact, rule.facts):
                for report in rule.check(fact, context):
                    said = {one.name: getattr(report, one.name) for one in fields(report) if one.name != "fix"}
                    yield rule.code, fact.key, said, text_of(fact.trail)


@pytest.mark.parametrize("case", one_in(5, cases()), ids=lambda case: case.id)
def test_what_the_analysis_gives_is_plain_data(case: Case, tmp_path: Path) -> None:
    project = Project()
    for path in case.write(tmp_path):
        assert_plain(project.add(read(path)), project, "non-strict")


@pytest.mark.parametrize("mode", one_in(2, ["non-strict", "strict"]))
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_facts_of_every_page_are_plain_data(page: Path, mode: Mode) -> None:
    blocks = re.findall(r"^```python\b[^\n]*\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for block in blocks:
        project = Project()
        assert_plain(project.add(from_bytes(block.encode(), ROOT / "model.py", "model.py")), project, mode)
