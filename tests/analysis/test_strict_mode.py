"""What strict mode alone refuses, and what it takes: torch.export proves each case."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint
from tests.analysis import fresh_exports
from tests.analysis.fresh_exports import refusal

MODEL = """\
import cmath
import contextlib
import contextvars
import copy
import datetime
import itertools
import logging
import math
import operator
import platform
import string
import unicodedata
from collections import Counter, namedtuple
from typing import List, Optional, Union, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

CONSTANT = np.array([1, 2])
CONTEXT = contextvars.ContextVar("CONTEXT", default=1)
Names = dict[str, int]
Text = Optional[str]


class Own:
    def __init__(self, value=1):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    def __gt__(self, other):
        return self.value > other.value

    def __enter__(self):
        return 2

    def __exit__(self, *reasons):
        return False


class Whole(int):
    pass


class Pair(namedtuple("Pair", "first second")):
    pass


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


@contextlib.contextmanager
def doubling():
    yield 2


def scaled(x):
    return x * 2


class Model(nn.Module):
    def rank(self, value):
        return -value

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.hooked = nn.Linear(4, 4)
        self.hooked.register_full_backward_hook(print)
        self.unhooked = nn.Linear(4, 4)
        handle = self.unhooked.register_full_backward_hook(print)
        handle.remove()
        self.array = np.array([1, 2])
        self.number = np.sqrt(4)
        self.whole = np.int64(2)
        self.first = operator.itemgetter(0)
        self.numbers = torch.arange(2)
        self.table = torch.rand(3)
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("slope", torch.tensor(0.5))
        self.names = itertools.cycle(["sin", "cos"])
        self.lists = dict(a=iter([1.0, 2.0]), b=itertools.chain([1.0], [2.0]))
        self.whole_numbers = iter(range(1, 9))

    def forward(self, x):
        n = (x > 0).any(1).sum() - 1
        {}
        return self.layer(x)
"""

ROW = MODEL[: MODEL.index("{}")].count("\n") + 1
"""The row of the code in it."""

ASKED = [
    "np.array([1, 2]).any()",
    "np.prod(x.shape[1:]) > 2",
    "np.ceil(x.shape[1] / 2) > 2",
    "np.isnan(3.0)",
    "np.max([1, 2]) > 1",
    "np.int64(3) > 1",
    "(np.array(x.shape[1:]) % 2 > 0).any()",
    "np.power(2, 3) > 2",
    "np.arange(3)[1] > 0",
    "np.floor(np.log2(8)).astype(int) > 1",
    "np.logical_and(1, 0)",
    "np.log1p(np.ones(2)).sum() > 1",
    "np.outer(np.ones(2), np.hanning(3)).T.sum() > 1",
    "np.split(np.ones(4).reshape(2, 2), 2)[0].sum() > 1",
    "np.einsum('i,j->ij', np.ones(2), np.ones(2)).sum() > 1",
    "CONSTANT.any()",
    "CONSTANT.reshape(2, 1).T.any()",
    "self.array.sum() > 1",
    "self.number > 1",
]

REFUSED = [
    "x = x * CONTEXT.get()",
    "scaled.calls = 1",
    "setattr(scaled, 'calls', 1)",
    "x = x * np.isin([1, 2], [2]).sum()",
    "x = x * np.polyval([1.0, 2.0], 3.0)",
    "x = x * np.ndim(self.array)",
    "x = x * cmath.polar(1j)[0]",
    "CONTEXT.set(2)",
    *(f"x = x + (1 if {asked} else 2)" for asked in ASKED),
    "x = x + (1 if not np.array([1, 2]).any() else 2)",
    "x = x + sum(1 for number in np.array([1, 2]) if number > 1)",
    "while np.prod(x.shape[1:]) < 3: x = x + 1",
    "sorted({'b': self.layer, 'a': False}.items())",
    "sorted([('b', x), ('a', x)])",
    "sorted([['b', self.layer], ['a', self.layer]])",
    "sorted(self.named_parameters())",
    "rows = [('b', x), ('a', x)]; rows.sort()",
    "x = max([x, x + 1], key=lambda t: t.dim())",
    "x = max([(1, x), (2, x)], key=lambda pair: pair[0])[1]",
    "x = x * max([1, 2], key=self.rank)",
    "x = x * max([0, 1], key=lambda k: self.array.shape[0] - k)",
    "x = x * max([0, 1], key=lambda k: x.shape[k])",
    "x = x * max((v + 1 for v in [1, 2]), key=lambda v: -v)",
    "d = {'a': x, 'b': x + 1}; x = d[max(d, key=lambda name: name)]",
    "x = x * max([Own(1), Own(2)], key=lambda own: own.value).value",
    "x = x * min(Own(1), Own(2)).value",
    "x = x * sorted([Own(2), Own(1)])[0].value",
    "rows = [Own(i) for i in range(2)]; rows.sort()",
    "x = x + 1 if x.is_inference() else x",
    "x.storage()",
    "stack = contextlib.ExitStack(); stack.enter_context(torch.no_grad())",
    "stack = contextlib.ExitStack(); stack.enter_context(torch.no_grad() if self.training else torch.enable_grad())",
    "x = x + (1 if torch.tensor(3) > 2 else 2)",
    "k = torch.tensor(0); k += 1; x = x + (1 if k > 0 else 2)",
    "for _ in range(torch.tensor(2)): x = x + 1",
    "x = x * len(unicodedata.normalize('NFC', 'a'))",
    "x = x * datetime.date(2020, 1, 1).year",
    "x = x * operator.indexOf([1, 2], 2)",
    "x = x * copy.copy([1, 2])[0]",
    "x = x * len(copy.copy(vars(self)))",
    "logging.getLogger('a')",
    "x = x * Counter('aab').most_common(1)[0][1]",
    "for number in self.numbers: x = x * self.table[number]",
    "torch._check(n.item() > 0, lambda: 'no rows')",
    "torch._check(x[x > 0].shape[0] > 0, lambda: 'no rows')",
    "x = self.first(x)[None]",
    "x = x[x.sum(1).argmax()][None]",
    "x = x[n.max()][None]",
    "x = x[torch.zeros((), dtype=torch.long)][None]",
    "x = x[torch.tensor([1, 0])[0]][None]",
    "m = n.item(); x = x + x[m:, 1:].sum()",
    "m = n.item(); x = x + x[m : m + 1, -1].sum()",
    "m, k = torch.stack([n, n]).tolist(); x = x + x[m:, k:].sum()",
    "m = n.item(); x = x + x[m:, [0, 1, 2, 3]].sum()",
    "m = n.item(); x = x + x[m:, x[0] > 0].sum()",
    "x = torch.autograd.Variable(x)",
    "x = getattr(torch, string.Template('$f').substitute(f='sin'))(x)",
    "x = self.hooked(x)",
    "x = getattr(torch, next(self.names))(x)",
    "x = x * next(self.lists['a'])",
    "x = x * next(self.lists['b'])",
    "x = (x > 0).type(torch.Tensor)",
    "with torch.backends.cuda.sdp_kernel(enable_flash=False): x = x + 1",
    "torch.distributions.Normal(0.0, 1.0)",
    "torch.distributions.Bernoulli(0.5)",
    "x = cast(list[Names], [x])[0]",
    "x = cast(dict[str, Names], {'a': x})['a']",
    "x = cast(Union[list[int], tuple[int, Names]], [x])[0]",
    "x = cast(List[Names], [x])[0]",
    "x = x + (1 if type(self.layer.weight).__module__.startswith('a') else 2)",
    "x = x + (1 if 'a' in type(self.scale).__qualname__ else 2)",
    "x = x + (1 if type(self.scale).__name__.lower() else 2)",
]

READ = [
    "x = x + x.new_full((4,), n)",
    "x = x + torch.full_like(x, n)",
    "x = x + torch.arange(n, n + 4)",
    "x = x + torch.randint(n, 99, (4,))",
    "x = x + torch.randint(0, max(1, 9 - n), (4,))",
    "x = F.celu(x, n)",
    "x = F.elu(x, alpha=n)",
    "x = F.leaky_relu(x, n)",
    "x = F.leaky_relu(x, self.slope)",
    "x = F.softplus(x, n)",
    "x = F.softplus(x, threshold=n)",
    "x = F.threshold(x, n, 0.0)",
    "x = F.threshold(x, 0.0, n)",
    "x = F.hardshrink(x, n)",
    "x = x.tril(n)",
    "x = torch.triu(x, diagonal=n)",
    "x = x.renorm(2, 0, n)",
    "x = x.roll(n, 0)",
    "x = F.pad(x, (0, n))[:, :4]",
    "x = x.roll((n, 0), (0, 1))",
    "x = x.clamp(n, 9)",
    "x = torch.clamp(x, 0, n)",
    "x = x.select(0, n)",
]
"""Tensors as plain numbers of operators, which TorchDynamo reads; `n` is an integer."""

REFUSED_OF_NUMPY = [
    "x = x + sum(1 for _ in range(self.whole))",
    "x = x + x.sum(self.whole - 1, keepdim=True)",
    "x = x.chunk(self.whole)[0]",
    "x = x[self.whole][None]",
    "x = [x, x, x][self.whole]",
    "x = x + torch.linspace(0, 1, self.whole + 2)",
    "x = x * math.sqrt(self.number)",
]
"""Numbers that numpy computed before the trace, which is asked for."""

HELD = [
    "x = x * self.number",
    "x = x / CONSTANT[0]",
    "x = x + torch.from_numpy(self.array).sum()",
    "x = x + torch.tensor(self.number)",
    "x = x * float(self.number)",
    "x = x.clamp(min=self.number)",
    "x = x * max(self.number, 1.0)",
]
"""Numbers and arrays of numpy that the program lacks: it gives something else, or tensors without data."""

TAKEN = [
    "m = n.item(); x = x + x[m:][:, 1:].sum()",
    "m = n.item(); x = x + x[m:, :2].sum()",
    "m = n.item(); x = x + x[m:, None, ::2].sum()",
    "m = n.item(); x = x + x[:m, 1:].sum()",
    "m = n.item(); x = x + x[1:, m:].sum()",
    "m = n.item(); torch._check(m >= 0); x = x + x[m:, 1:].sum()",
    "x = x * max([1, 2], key=lambda v: -v)",
    "d = {1: 5, 2: 3}; x = x * max(d, key=d.get)",
    "x = x * max(range(3), key=abs)",
    "w = [1, 2]; k = x.shape[1]; x = x * max([0, 1], key=lambda i: w[i] * k)",
    "x = x * max([Own(1)]).value",
    "x = x * sorted([Whole(2), Whole(1)])[0]",
    "x = x * max([Pair(1, 2), Pair(2, 1)], key=lambda pair: pair.second).first",
    "x = x * sorted([Own(2), Own(1)], key=lambda own: own.value)[0].value",
    "stack = contextlib.ExitStack(); x = x * stack.enter_context(doubling())",
    "stack = contextlib.ExitStack(); x = x * stack.enter_context(Own())",
    "x = operator.itemgetter(0)(x)[None]",
    "x = x[torch.tensor(1)][None]",
    "x = x[(torch.tensor(0) + 1).to(x.device)][None]",
    "x = x.clone(); x[torch.tensor(x.shape[1] - 3)] = 0.0",
    "x = x + (1 if torch.tensor(3).item() > 2 else 2)",
    "x = x + (1 if bool(torch.tensor(True)) else 2)",
    "x = x + (1 if float(torch.tensor(2.0) * torch.tensor(3.0) + 1) > 1 else 2)",
    "x = x + (1 if int(torch.tensor([2]).clone()) > 1 else 2)",
    "x = x + (1 if int(torch.tensor(x.shape[1]) / 2) > 1 else 2)",
    "for _ in range(int(torch.tensor(x.shape[1]).sqrt())): x = x + 1",
    "x = x * math.sqrt(torch.tensor(2))",
    "x = [x, -x][torch.tensor(1)]",
    "x = x * {2: 3.0}[torch.as_tensor(2).item()]",
    "k = torch.tensor(0); k += 1; x = x + (1 if k.item() > 0 else 2)",
    "assert torch.tensor(2).item() == 2",
    "x = x * self.array.shape[0]",
    "x = x + len(self.array)",
    "x = x.view(int(self.number), -1).view(3, 4)",
    "x = x + (1 if self.number is not None else 2)",
    "x = x + (1 if isinstance(self.array, np.ndarray) else 2)",
    "x = (x > 0).type(torch.FloatTensor)",
    "torch.distributions.Normal(0.0, 1.0, validate_args=False)",
    "x = x + torch.full((4,), n)",
    "x = x + torch.arange(n).sum()",
    "x = x.clamp(max=n)",
    "x = x.masked_fill(x > 2, n)",
    "x = F.leaky_relu(x, n.item())",
    "x = x.roll(n.item(), 0)",
    "torch._check(n.item() > 0)",
    "torch._check((x.sum() > -9).item(), lambda: 'too low')",
    "torch._check(len(x) > 2, lambda: 'no rows')",
    "assert np.prod(x.shape[1:]) > 1",
    "x = x / np.sqrt(x.shape[1])",
    "x = x * np.array([1.0, 2.0, 3.0, 4.0]).max()",
    "x = x + (1 if int(np.ceil(x.shape[1] / 2)) > 1 else 2)",
    "x = x + (1 if np.array([1, 2]).shape[0] > 1 else 2)",
    "x = x + (1 if len(np.arange(3)) > 2 else 2)",
    "x = x + (1 if isinstance(np.array([1, 2]), np.ndarray) else 2)",
    "x = x + (1 if np.pi > 1 else 2)",
    "x = x * copy.copy(2) * copy.copy((1, 2))[0]",
    "logging.getLogger()",
    "x = x * len(platform.node())",
    "sorted({'b': 1.5, 'a': False}.items())",
    "sorted({'b': self.layer, 'a': False}.items(), key=lambda pair: pair[0])",
    "sorted([('b', None), ('a', torch.float32)])",
    "sorted(self.state_dict().keys())",
    "x = cast(list[dict[str, int]], [x])[0]",
    "x = cast(list[Text], [x])[0]",
    "x = cast(Names, x)",
    "x = x + (1 if type(self.scale).__name__ == 'a' else 2)",
    "x = x + (1 if type(self.scale).__module__ in ('a', 'b') else 2)",
    "x = x + (1 if self.scale.__class__.__name__.lower() else 2)",
    "x = x + (1 if type(self.slope).__name__.lower() else 2)",
    "x = x + (1 if type(self.layer.weight.T).__name__.lower() else 2)",
    "x = x + (1 if type(self.layer.weight.detach()).__name__.lower() else 2)",
    "x = x + (1 if type(x).__module__.startswith('a') else 2)",
    "Own = dict[str, int]; x = cast(list[Own], [x])[0]",
    "x = self.unhooked(x)",
    "x = x * next(self.whole_numbers)",
    "numbers = itertools.cycle([1.0, 2.0]); x = x * next(numbers) * next(numbers)",
]


def errors(code: str, directory: Path, mode: str) -> list[int]:
    """The rows that exportlint says export raises at."""
    file = directory / "model.py"
    file.write_text(MODEL.format(code), "utf-8")
    settings = combine([Layer(directory, {"mode": mode, "torch-version": (2, 13), "dynamic-dims": ()})], directory)
    return [f.span.start.row for f in lint([Task(file, settings)]).findings if f.severity.value == "error"]


def found(code: str, directory: Path, mode: str, rule: str) -> list[int]:
    """The rows of a rule's findings."""
    file = directory / "model.py"
    file.write_text(MODEL.format(code), "utf-8")
    settings = combine([Layer(directory, {"mode": mode, "torch-version": (2, 13), "dynamic-dims": ()})], directory)
    return [f.span.start.row for f in lint([Task(file, settings)]).findings if f.code == rule]


def loaded(code: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The model, which TorchDynamo imports by its name."""
    file = directory / "model.py"
    file.write_text(MODEL.format(code), "utf-8")
    monkeypatch.setitem(sys.modules, fresh_exports.MODULE, sys)  # what stands there is put back after the test
    return fresh_exports.loaded(file).Model().eval()


@pytest.mark.parametrize("code", [*REFUSED, *REFUSED_OF_NUMPY, *READ])
def test_refused(code: str, tmp_path: Path) -> None:
    assert errors(code, tmp_path, "strict") == [ROW]
    assert errors(code, tmp_path, "non-strict") == []


@pytest.mark.parametrize("code", TAKEN)
def test_taken(code: str, tmp_path: Path) -> None:
    assert errors(code, tmp_path, "strict") == []


@pytest.mark.parametrize(("code", "expected"), [*((code, [ROW]) for code in HELD), *((code, []) for code in TAKEN)])
def test_held_by_numpy(code: str, expected: list[int], tmp_path: Path) -> None:
    assert found(code, tmp_path, "strict", "EXP203") == expected
    assert found(code, tmp_path, "non-strict", "EXP203") == []


@pytest.mark.thorough
@pytest.mark.parametrize("code", HELD)
def test_programs_lack_numbers_of_numpy(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    model, example = loaded(code, tmp_path, monkeypatch), (torch.ones(3, 4),)
    expected = model(*example)
    assert torch.equal(torch.export.export(model, example, strict=False).module()(*example), expected)
    torch.compiler.reset()
    result = torch.export.export(model, example, strict=True).module()(*example)
    assert type(result) is not torch.Tensor or not torch.allclose(result, expected)


@pytest.mark.thorough
def test_all_items_of_tuples_are_compared_before_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    code = "x = x + (1 if (n.item(), 2) == (1, 3) else 2)"
    assert errors(code, tmp_path, "strict") == []
    assert errors(code, tmp_path, "non-strict") == [ROW]
    torch.export.export(loaded(code, tmp_path, monkeypatch), (torch.ones(3, 4),), strict=True)


def test_a_tensor_that_a_function_marks_as_written(tmp_path: Path) -> None:
    code = "x = Doubled.apply(x + 0)"
    row = MODEL[: MODEL.index("ctx.mark_dirty(x)")].count("\n") + 1
    assert errors(code, tmp_path, "strict") == [row]
    assert errors(code, tmp_path, "non-strict") == []
    pytest.importorskip("torch")
    assert refusal(tmp_path / "model.py", strict=False) == ""
    assert "mark_dirty" in refusal(tmp_path / "model.py", strict=True)


@pytest.mark.thorough
@pytest.mark.parametrize("code", [*REFUSED, *REFUSED_OF_NUMPY, *READ, *TAKEN])
def test_torch_proves_it(code: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "model.py"
    file.write_text(MODEL.format(code), "utf-8")
    assert refusal(file, strict=False) == ""
    reasons = (
        "Data-dependent branching|sort with non-constant keys|Pending unbacked symbols|marked as skipped"
        "|non-Tensor|argument type|missing_mp_subscript|non-constant typing subscript|missing sq_contains"
        "|Unsupported method call|specialized integer|Failed to trace builtin|Could not guard|annotating"
        "|does not know how to trace|invalid call to builtin|Unresolved GetAttr|'is_quantized'"
        "|does not support next|constant-like method call|Module-level backwards hooks"
        "|is_inference|on unsupported type|numpy function unsupported"
    )
    assert re.search("^$" if code in TAKEN else reasons, refusal(file, strict=True))


EINSUM = """\
import opt_einsum
import tensorly
from tensorly.plugins import use_opt_einsum
from torch import nn

{}


class Model(nn.Module):
    def forward(self, x):
        return {}("ab,cb->ac", x, x)
"""


@pytest.mark.parametrize(
    ("setup", "called", "rows"),
    [
        ("", "opt_einsum.contract", [11]),
        ('use_opt_einsum("optimal")', "tensorly.einsum", [11]),
        ("", "tensorly.einsum", []),
    ],
)
def test_einsum_that_plans_with_opt_einsum(setup: str, called: str, rows: list[int], tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(EINSUM.format(setup, called), "utf-8")
    for mode, expected in (("strict", rows), ("non-strict", [])):
        settings = combine([Layer(tmp_path, {"mode": mode, "torch-version": (2, 13)})], tmp_path)
        found = lint([Task(file, settings)]).findings
        assert [f.span.start.row for f in found if f.severity.value == "error"] == expected
