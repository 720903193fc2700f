"""What expressions give grows with what their variables hold: the interpreter's transfer functions are monotone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from exportlint.analysis.domain.dim import constant, symbol, unbacked
from exportlint.analysis.domain.lattice import join, leq, merged, options, widen
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import (
    FALSE,
    NONE,
    PYTHON,
    TRUE,
    Const,
    Dict,
    Origin,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.engine import Engine, Options
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.handlers import load_interpreter
from exportlint.analysis.project import Project
from exportlint.source import from_bytes
from exportlint.syntax.definitions import Module

N = symbol("n")
MATRIX = Tensor(Origin.INPUT, "float", TensorShape((N, constant(3)), 2), depends_on_input=True)
TENSORS: dict[str, Value] = {
    "a matrix": MATRIX,
    "a buffer": Tensor(Origin.BUFFER, "float", TensorShape((constant(2), constant(3)), 2)),
    "a mask": Tensor(Origin.FRESH, "bool", TensorShape((unbacked("u"),), 1), depends_on_input=True),
    "some tensor": Tensor(),
    "perhaps a tensor": Tensor(Origin.INPUT, assumed=True),
}
NUMBERS: dict[str, Value] = {
    "True": TRUE,
    "2": Const(2),
    "3": Const(3),
    "a number read from a tensor": Scalar("int"),
    "perhaps a number read from a tensor": Scalar("int", assumed=True),
    "a size": Size(N),
    "a sum of sizes": Size(N + 1),
}
CONTAINERS: dict[str, Value] = {
    "a pair": Tuple((MATRIX, NONE)),
    "a list of three": Tuple((Const(1), Const(2), MATRIX), mutable=True),
    "a list": Sequence(MATRIX),
    "a list of numbers": Sequence(Const(2)),
}
LISTS_OF_TENSORS: dict[str, Value] = {
    "two matrices": Tuple((MATRIX, MATRIX)),
    "a matrix and a tensor": Tuple((MATRIX, Tensor()), mutable=True),
    "matrices": Sequence(MATRIX),
    "tensors": Sequence(Tensor()),
}
DICTIONARIES: dict[str, Value] = {
    "a dictionary": Dict((("a", MATRIX), ("b", NONE))),
    "another dictionary": Dict((("a", Const(2)),)),
    "some dictionary": Dict((), MATRIX),
}
OTHERS: dict[str, Value] = {"None": NONE, "False": FALSE, "a text": Const("a"), "some Python value": PYTHON}
ANY = {**TENSORS, **NUMBERS, **CONTAINERS, **DICTIONARIES, **OTHERS}
EXPRESSIONS: list[tuple[str, dict[str, Value], list[str]]] = [
    (
        "tensors",
        TENSORS,
        [
            "v + 1", "2 * v", "v - v", "v // 2", "v ** 2", "v @ v", "-v", "~v", "v == 2", "v > 0", "0 <= v < 3",
            "v[0]", "v[-1]", "v[1:]", "v[None]", "v[..., 0]", "v[v > 0]", "(1, 2, 3)[v]", "torch.ones(3, 4)[v]",
            "v.shape", "v.ndim", "v.dtype", "v.device", "v.T", "v.data", "v.shape[0]", "v.requires_grad", "v.is_cuda",
            "v.sum()", "v.sum(0)", "v.view(-1)", "v.item()", "v.size(0)", "v.size()", "v.tolist()", "v.nonzero()",
            "v.unsqueeze(0)", "v.detach()", "v.to(torch.int64)", "v.narrow(0, 0, 1)", "v.reshape(2, 3)", "v.numel()",
            "torch.relu(v)", "torch.add(v, 1)", "torch.cat([v, v])", "torch.where(v > 0, v, 0)", "torch.matmul(v, v)",
            "torch.stack((v, v))", "torch.is_tensor(v)", "torch.topk(v, 1)", "len(v)", "v.unbind()", "v.chunk(2)",
            "v.any()", "torch.equal(v, v)", "torch.zeros_like(v)", "v.permute(1, 0)", "v.expand(2, -1, -1)",
        ],
    ),
    (
        "numbers",
        NUMBERS,
        [
            "v + 1", "2 * v", "v - v", "v // 2", "v % 2", "v ** 2", "v / 2", "-v", "~v", "v == 2", "v > 0",
            "0 <= v < 3", "v in (1, 2)", "(1, 2, 3, 4)[v]", "[v, 1][0]", "torch.zeros(v)", "torch.ones(3, v)",
            "torch.arange(v)", "int(v)", "float(v)", "abs(v)", "max(v, 1)", "min(v, 2)", "range(v)", "math.sqrt(v)",
            "torch.ones(3, 4) + v", "torch.ones(3, 4)[v]", "torch.ones(3, 4).sum(v)", "round(v)", "str(v)", "f'{v}'",
        ],
    ),
    (
        "containers",
        CONTAINERS,
        [
            "v[0]", "v[-1]", "v[1:]", "len(v)", "list(v)", "tuple(v)", "2 in v", "[i for i in v]", "[*v]", "(v, v)",
            "v + v", "v * 2", "any(v)", "all(v)", "sorted(v)", "reversed(v)", "enumerate(v)", "zip(v, v)",
        ],
    ),
    (
        "lists of tensors",
        LISTS_OF_TENSORS,
        ["torch.stack(v)", "torch.cat(v)", "sum(v)", "max(v)", "v[0]", "[t.sum() for t in v]", "torch.stack([*v])"],
    ),
    (
        "dictionaries",
        DICTIONARIES,
        ["v['a']", "v.get('a')", "v.get('c', 1)", "v.items()", "list(v)", "len(v)", "'a' in v", "{**v}", "v.keys()",
         "list(v.values())"],
    ),
    ("what is no data", {**OTHERS, **CONTAINERS, "2": Const(2), "a size": Size(N)}, ["v and 1", "v or 0", "v or v"]),
    (
        "any",
        ANY,
        [
            "v", "v is None", "v is not None", "v == None", "v != None", "not v", "bool(v)",
            "1 if v else 2", "v if v else None", "v if v is not None else 0", "isinstance(v, int)",
            "isinstance(v, torch.Tensor)", "type(v)", "hasattr(v, 'shape')", "id(v)", "{'a': v}['a']", "[v, 1][0]",
            "(lambda w: w)(v)", "f'{v}'", "str(v)", "(v, v)", "[v]", "torch.is_tensor(v)",
        ],
    ),
]  # fmt: skip


SHARPER = "of several operands, the one that claims most decides"
NOT_YET = {
    "tensors: v[v > 0]": "each way takes one alternative of the tensor and all of the mask",
    "tensors: torch.ones(3, 4)[v]": "an index with alternatives is taken for an integer",
    "tensors: v.shape[0]": "a size that data decides, joined with one of which nothing is known, is no data",
    "tensors: v.size(0)": "likewise",
    "tensors: v.numel()": "likewise",
    "tensors: len(v)": "likewise",
    "tensors: v.item()": "a dtype that is not known is taken to be a float",
    "tensors: torch.cat([v, v])": "a size that data decides is lost in a sum with one of which nothing is known",
    "numbers: torch.ones(3, v)": SHARPER,
    "numbers: torch.arange(v)": SHARPER,
    "numbers: max(v, 1)": SHARPER,
    "numbers: min(v, 2)": SHARPER,
}
"""Where the law does not hold, and why: what holds of one alternative is claimed of all, or one more loses a claim."""


@cache
def module() -> Module:
    load_interpreter()
    text = "import math\n\nimport torch\n"
    return Project().add(from_bytes(text.encode(), Path("model.py").absolute(), "model.py"))


def evaluated(expression: str, value: Value) -> Value:
    """What the interpreter makes of an expression of `v`."""
    frame = Frame(Engine(Project(), Options()), module())
    frame.env = {"v": value}
    return frame.evaluate(ast.parse(expression, mode="eval").body)


def pairs(samples: dict[str, Value]) -> Iterator[tuple[str, Value, Value]]:
    """Values, and some that include them: joined with another, merged, and widened."""
    for names in combinations(samples, 2):
        one, other = (samples[name] for name in names)
        for value in (one, other):
            yield " | ".join(names), value, join((one, other))
            yield "merged " + " | ".join(names), value, merged(options(join((one, other))))
            yield "widened " + " | ".join(names), value, widen(one, other)


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(reason=NOT_YET[name], strict=True)] if name in NOT_YET else []


@pytest.mark.parametrize(
    ("expression", "samples"),
    [
        pytest.param(expression, samples, id=(name := f"{kind}: {expression}"), marks=_marks(name))
        for kind, samples, expressions in EXPRESSIONS
        for expression in expressions
    ],
)
def test_more_alternatives_give_no_less(expression: str, samples: dict[str, Value]) -> None:
    seen: dict[Value, Value] = {}
    less = []
    for name, value, bound in pairs(samples):
        assert leq(value, bound), name
        for held in (value, bound):
            if held not in seen:
                seen[held] = evaluated(expression, held)
        if not leq(seen[value], seen[bound]):
            less.append((name, seen[value], seen[bound]))
    assert not less
