"""Safe fixes leave what eager computes, and refuses, as it was: for other numbers, sizes, types and settings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exportlint.findings import Applicability
from exportlint.fixer import fix
from tests.fixes.rewrites import Rewrite

HEAD = """\
import math

import torch
import torch.nn.functional as F
from torch import nn


"""
MODEL = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = {value}

    def forward(self, x: torch.Tensor, y: torch.Tensor):
        n = x.shape[0]
        return {result}
"""
SETTINGS = [0.5, 0.25, 2, 3, 0, -1, -0.5, 7.0, 1 / 3]
"""What somebody sets an attribute to, which was 0.5 or 2 when the file was fixed."""
NUMBERS = ["n", "x.size(0)", "len(x)", "self.k", "2", "0.5", "1.5", "y.shape[1]", "-1", "3"]
OPERATORS = ["+", "-", "*", "/", "//", "%"]
CONVERSIONS = ["int({})", "float({})", "math.sqrt({})", "int({}) + float({})", "divmod({}, 2)", "math.pow({}, 2)",
               "round({})", "int({} / 2)", "int(2 * {})", "int({} * self.k)", "float({}) * self.k"]  # fmt: skip
INPUTS = [(torch.arange(5 * n, dtype=torch.float32).reshape(n, 5) - 7.0, torch.ones(2, m)) for n, m in
          itertools.product((1, 2, 3, 5, 8), (1, 4))]  # fmt: skip


@st.composite
def expressions(draw: st.DrawFn) -> str:
    left, right = draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(NUMBERS))
    inner = draw(st.sampled_from([left, f"({left} {draw(st.sampled_from(OPERATORS))} {right})"]))
    conversion = draw(st.sampled_from(CONVERSIONS))
    return conversion.format(*[inner] * conversion.count("{}"))


def fixed(source: str, directory: Path) -> str:
    """The source with all safe fixes."""
    (task,) = fix([Rewrite("case", "", source).task(directory)], lambda _: Applicability.SAFE).tasks
    return task.read().text


def made(source: str) -> Callable[[], Any]:
    """The class `Model` of a source."""
    names: dict[str, Any] = {"__name__": "case"}
    exec(compile(source, "case.py", "exec"), names)
    found: Callable[[], Any] = names["Model"]
    return found


def outcome(model: Any, arguments: Sequence[Any]) -> object:
    """What a call gives, or the class of what it raises."""
    try:
        return model(*(a.clone() if isinstance(a, torch.Tensor) else a for a in arguments))
    except Exception as error:
        return type(error)


def same(one: object, other: object) -> bool:
    """Whether two outcomes are of one type and equal, tensors also in shape and dtype."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        is_alike = one.dtype == other.dtype and one.shape == other.shape
        return is_alike and bool(torch.equal(one.nan_to_num(), other.nan_to_num()))
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or (one != one and other != other))


def check(source: str, inputs: Sequence[Sequence[Any]], attributes: Mapping[str, Sequence[object]], tmp: Path) -> None:
    after = fixed(source, tmp)
    if after == source:
        return
    before, then = made(source), made(after)
    for arguments in inputs:
        for values in itertools.product(*attributes.values()):
            models = before(), then()
            for model in models:
                for name, value in zip(attributes, values, strict=True):
                    setattr(model, name, value)
            one, other = (outcome(model, arguments) for model in models)
            assert same(one, other), f"{after}\nwith {dict(zip(attributes, values, strict=True))}: {one} and {other}"


@pytest.mark.thorough
@given(expressions(), st.sampled_from(["0.5", "2"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
def test_numbers_of_sizes(tmp_path: Path, expression: str, value: str) -> None:
    source = HEAD + MODEL.format(value=value, result=expression)
    check(source, INPUTS, {"k": SETTINGS}, tmp_path)


TENSORS = [
    "x", "x + 1", "x * 2", "x.relu()", "x[0]", "x[1:]", "x * self.k", "x.sum()", "y", "x - y.mean()", "x.clone()", "-x",
    "torch.zeros_like(x)", "x.to(torch.float64)", "x.bool()", "x.flip(0)", "x.clamp(min=self.k)",
]  # fmt: skip
CONDITIONS = ["x.sum() > 0", "x.sum().item() > self.k", "(x > 0).any()", "not (x > 0).all()", "x.max() < y.sum()",
              "len(x[x > 0]) > 0", "x.isnan().any()", "bool(x.sum() > self.k)", "float(x.mean()) > 0.1"]  # fmt: skip
ROWS = [
    (x, y)
    for x in (
        torch.tensor([[1.0, -2.0, 3.0]] * 3),
        -torch.ones(3, 3),
        torch.full((3, 3), float("nan")),
        torch.zeros(3, 3),
    )
    for y in (torch.ones(3, 3), -torch.ones(3, 3))
]


@pytest.mark.thorough
@given(st.sampled_from(CONDITIONS), st.sampled_from(TENSORS), st.sampled_from(TENSORS), st.sampled_from(["0.5", "2"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
def test_choices(tmp_path: Path, condition: str, one: str, other: str, value: str) -> None:
    source = HEAD + MODEL.format(value=value, result=f"{one} if {condition} else {other}").replace(
        "        n = x.shape[0]\n", ""
    )
    check(source, ROWS, {"k": [0.5, 2, 0.1, float("inf")]}, tmp_path)


BOUNDS = ["self.k", "2", "n", "8", "-2", "n // 2", "self.k + 1"]
STATEMENTS = [
    "if n > {0}:\n            x = x[:{0}]",
    "if x.shape[0] > {0}:\n            x = x[:{0}]",
    "n = n if n < {0} else {0}\n        x = x[:n]",
    "if n > {0}:\n            n = {0}",
    "x = x[:{0}]",
    "x = x[-{0}:]",
    "if {0} - n > 0:\n            x = F.pad(x, (0, 0, 0, {0} - n))",
]


@given(st.sampled_from(STATEMENTS), st.sampled_from(BOUNDS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_conditions_on_sizes(tmp_path: Path, statement: str, bound: str) -> None:
    source = HEAD + MODEL.format(value="2", result="x, n").replace(
        "return", f"{statement.format(bound)}\n        return"
    )
    check(source, INPUTS, {"k": [2, 3, -1, 0, None, 0.5]}, tmp_path)


@pytest.mark.parametrize(
    "result", ["int(self.k * n)", "int(n * self.k)", "float(n) * self.k", "float(n) * int(self.k * n)"]
)
def test_a_conversion_is_kept_whatever_an_attribute_holds(result: str, tmp_path: Path) -> None:
    check(HEAD + MODEL.format(value="0.5", result=result), INPUTS, {"k": SETTINGS}, tmp_path)
