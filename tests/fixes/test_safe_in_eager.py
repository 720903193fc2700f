"""Programs that are hard on proofs: whatever eager shows of a model is the same after all safe fixes.

That is what calls give, raise and do to their arguments, whether gradients flow and which, the attributes and buffers
that they leave, and how many random numbers they draw.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import torch

from tests.fixes.test_eager import HEAD, fixed, made
from tests.isolation import undisturbed
from tests.sampling import one_in

Inputs = Sequence[tuple[Any, ...]]

ROWS: Inputs = ((torch.tensor([1.0, 2.0, 3.0]),), (torch.tensor([-1.0, -2.0, -3.0]),))
LEARNING: Inputs = tuple((x.clone().requires_grad_(),) for (x,) in ROWS)
MATRICES: Inputs = ((torch.arange(12.0).reshape(6, 2),), (torch.arange(4.0).reshape(2, 2),))
BRANCH = """\
if x.sum() > 0:
    y = x + 1
    z = x + 2
else:
    y = x + 3
    z = x + 4
"""
COUNTS = """
@property
def seen(self):
    self.count = self.count + 1
    return self.h
"""
DRAWS = """
@property
def noisy(self):
    return self.h + torch.randn_like(self.h)
"""
LOOP = f"""\
y = out = x
for i in range(3):
    out = out + y
{indent(BRANCH, "    ")}
    out = out + z
"""
OUTER = f"""\
y = out = x
for i in range(3):
    out = out + y
    for j in range(2):
{indent(BRANCH, "        ")}
    out = out + z
"""
ONE_OF_TWO = "y = x if x.sum() > 0 else x.clone()\n"
SHORTENED = "whole = x\nif x.shape[0] > 4:\n    x = x[:4]\n"
LEARNS = "self.w = nn.Parameter(torch.ones(3))"
HELPER = "def helper(t):\n    t.zero_()\n\n\n"
SELECTED = """\
out = {out}
idx = (x > 0).nonzero().flatten()
if idx.numel() > 0:
    out[idx] = {new}
return out
"""


@dataclass(frozen=True)
class Program:
    """The body of `forward`, what stands in `__init__`, other methods, and whether a safe fix changes it."""

    name: str
    body: str
    is_fixed: bool
    inputs: Inputs = ROWS
    init: str = ""
    methods: str = ""
    head: str = ""

    @property
    def source(self) -> str:
        init = indent(f"def __init__(self):\n    super().__init__()\n{indent(self.init, '    ')}\n", "    ")
        forward = indent(f"def forward(self, x: torch.Tensor):\n{indent(self.body, '    ')}\n", "    ")
        methods = indent(self.methods, "    ")
        return f"{HEAD}{self.head}class Model(nn.Module):\n{init}\n{methods}\n{forward}"


def sees(name: str, body: str, **options: Any) -> Program:
    """A program in which code elsewhere sees a variable that the branch assigns: the fix must assign it, too."""
    return Program(name, body, is_fixed=True, **options)


PROGRAMS = [
    sees("a lambda made before", f"y = x\nf = lambda: y * 2\n{BRANCH}return f() + z"),
    sees("a function defined before", f"y = x\ndef f():\n    return y * 2\n{BRANCH}return f() + z"),
    sees("a generator made before", f"y = x\ng = (y * k for k in range(2))\n{BRANCH}return z + sum(g)"),
    sees("a default of a function", f"y = x\n{BRANCH}def f(v=y):\n    return v\nreturn z + f()"),
    sees("the body of a class", f"y = x\n{BRANCH}class A:\n    w = y\nreturn z + A.w"),
    sees("the names of all variables", f"y = x\n{BRANCH}return z + locals()['y']"),
    sees("code in a text", f"y = x\n{BRANCH}return z + eval('y')"),
    sees("a global variable", f"global Y\n{BRANCH.replace('y =', 'Y =')}return z", head="Y = None\n\n\n"),
    sees("the outer loop", f"{OUTER}return out"),
    sees("the next pass of a loop", f"{LOOP}return out"),
    sees("the `else` of a loop", f"{LOOP}else:\n    out = out + y\nreturn out"),
    sees("a pass behind `continue`", f"{LOOP}    if i == 1:\n        continue\n    y = x\nreturn out"),
    sees("code behind `break`", f"{LOOP}    if i == 1:\n        break\n    y = x\nreturn out + y"),
    sees(
        "a handler, before the variable is bound again",
        f"y = x\ntry:\n{indent(BRANCH, '    ')}\n    y = self.fail(x)\nexcept ValueError:\n    pass\nreturn y + z",
        methods="def fail(self, x):\n    raise ValueError",
    ),
    sees(
        "the `else` of a `try`",
        f"y = x\ntry:\n{indent(BRANCH, '    ')}\nexcept ValueError:\n    pass\nelse:\n    z = z + y\nreturn z",
    ),
    sees(
        "code behind a context that swallows an error",
        f"{BRANCH}with contextlib.suppress(ValueError):\n    y = self.fail(x)\nreturn y + z",
        methods="def fail(self, x):\n    raise ValueError",
        head="import contextlib\n\n\n",
    ),
    sees(
        "an enclosing function",
        f"y = x\ndef f():\n    nonlocal y\n{indent(BRANCH, '    ')}\n    return z\nreturn f() + y",
    ),
    Program("nobody", f"y = x\n{BRANCH}y = x * 2\nreturn y + z", is_fixed=True),
    Program("a way cut off from gradients", "return x * 2 if x.sum() > 0 else x.detach() * 2", False, LEARNING),
    Program("a way of zeros", "return x * 2 if x.sum() > 0 else torch.zeros_like(x)", False, LEARNING),
    Program("two ways with gradients", "return x * 2 if x.sum() > 0 else x * 3", True, LEARNING),
    Program(
        "a parameter and zeros",
        "return x * (self.w + 1.0 if x.sum() > 0 else torch.zeros_like(self.w))",
        False,
        init="self.w = nn.Parameter(torch.ones(3))",
    ),
    Program(
        "a text that is no number",
        "if x.sum() < 9:\n    y = x * 2\nelse:\n    q = float('a')\n    y = x * 3\nreturn y",
        False,
    ),
    Program(
        "a root of a negative number",
        "if x.sum() < 9:\n    y = x * 2\nelse:\n    q = math.sqrt(self.k)\n    y = x * 3\nreturn y",
        False,
        init="self.k = -1",
    ),
    Program(
        "a shape of one dimension",
        "if x.sum() < 9:\n    y = x * 2\nelse:\n    a, b = x.shape\n    y = x * 3\nreturn y",
        False,
    ),
    Program(
        "a number that is worked out",
        "n = 2\nif x.sum() < 9:\n    y = x * 2\nelse:\n    k = n * 2 + 1\n    y = x * 3\nreturn y",
        True,
    ),
    Program("a slice of what is drawn", "self.h = x\nreturn self.noisy[:4]", False, MATRICES, "self.h = None", DRAWS),
    Program(
        "a slice of what counts",
        "self.h = x\nreturn self.seen[:4]",
        False,
        MATRICES,
        "self.h = None\nself.count = 0",
        COUNTS,
    ),
    Program(
        "a slice of what is looked up",
        "self.h = x\nreturn self.held[:4]",
        True,
        MATRICES,
        "self.h = None",
        "@property\ndef held(self):\n    return self.h",
    ),
    Program(
        "a size of what counts",
        "self.h = x\nn = self.seen.shape[0] if self.seen.shape[0] < 4 else 4\nreturn x[:n]",
        False,
        MATRICES,
        "self.h = None\nself.count = 0",
        COUNTS,
    ),
    Program(
        "both halves of what counts",
        "self.h = x\na, b = divmod(self.seen.shape[0], 2)\nreturn x * a + b",
        False,
        MATRICES,
        "self.h = None\nself.count = 0",
        COUNTS,
    ),
    Program(
        "a way that counts",
        "return x * 2 if x.sum() > 0 else x * self.seen",
        False,
        init="self.h = 2.0\nself.count = 0",
        methods=COUNTS,
    ),
    Program(
        "what counts behind a return",
        "if x.sum() > 0:\n    return x * 2\nh = self.seen\nreturn x * 3",
        False,
        init="self.h = torch.ones(3)\nself.count = 0",
        methods=COUNTS,
    ),
    Program(
        "a write to data, later", "y = x.clone()\nf = lambda: y.data.mul_(2)\nz = y * y\nf()\nreturn z", False, LEARNING
    ),
    Program(
        "a write to the data of another name", "y = z = x.clone()\nw = z * z\ny.data.mul_(2)\nreturn w", False, LEARNING
    ),
    Program("data that gradients need", "h = x * 1\nz = h.data * self.w\nh.add_(1)\nreturn z + h", False, init=LEARNS),
    Program(
        "data that is written by a helper", "z = x.data * self.w\nhelper(x)\nreturn z", False, init=LEARNS, head=HELPER
    ),
    Program(
        "data that no gradient needs", "h = x * 1\nz = h.data + self.w\nh.add_(1)\nreturn z + h", True, init=LEARNS
    ),
    Program("a write to new data", "y = x.clone()\ny.data.mul_(2)\nreturn y * y", True, LEARNING),
    Program("a place in the graph", f"{ONE_OF_TWO}return y * (3 if y.grad_fn is None else 5)", False, LEARNING),
    Program(
        "a hook", f"{ONE_OF_TWO}if y.requires_grad:\n    y.register_hook(torch.neg)\nreturn y * x", False, LEARNING
    ),
    Program("a set of tensors", f"{ONE_OF_TWO}return x * len({{x, y}})", False),
    Program("a list of tensors", f"{ONE_OF_TWO}return x * (2 if any(v in [x] for v in [y]) else 3)", False),
    Program("a slice that is told from the whole", f"{SHORTENED}return x * (2 if x is whole else 3)", True, MATRICES),
    Program("a slice that nobody tells", f"{SHORTENED}return x * 2", True, MATRICES),
    Program("values of tensors", f"{ONE_OF_TWO}return y * x", True),
    Program(
        "gradients in inference mode",
        "with torch.inference_mode():\n    with torch.enable_grad():\n        return x * 2",
        False,
        LEARNING,
    ),
    Program(
        "a question for inference mode",
        "with torch.inference_mode():\n    return x * (2 if torch.is_inference_mode_enabled() else 3)",
        False,
    ),
    Program("inference mode", "with torch.inference_mode():\n    return x * 2", True, LEARNING),
    Program(
        "a list of numbers that are too large", "return torch.tensor([70000.0] * x.size(0), dtype=torch.float16)", False
    ),
    Program(
        "a list of numbers that may be a tensor",
        "return torch.tensor([self.k] * x.size(0), dtype=torch.float64)",
        False,
        init="self.k = 2.0",
    ),
    Program("a list of numbers", "return torch.tensor([1.5] * x.size(0), dtype=torch.int64)", True),
    Program(
        "an expert that gets no rows",
        SELECTED.format(out="torch.zeros(3, 3)", new="self.l(out[idx])"),
        False,
        init="self.l = nn.Linear(3, 3)",
    ),
    Program(
        "a tensor for selected rows",
        SELECTED.format(out="torch.zeros(3)", new="self.v"),
        False,
        init="self.register_buffer('v', torch.ones(3))",
    ),
    Program(
        "a mask of another shape",
        "out = torch.zeros(2)\nmask = x > 0\nif mask.any():\n    out[mask] = 1.0\nreturn out",
        False,
    ),
    Program("a flag of what is no leaf", "y = x.clone()\ny.requires_grad = True\nreturn y * 2", False, LEARNING),
    Program(
        "a constant for selected rows",
        SELECTED.format(out="torch.zeros(3)", new="2.0"),
        True,
    ),
]
TYPES: Inputs = ((torch.ones(2),), (True,), (3,), (2.0,))


@pytest.mark.parametrize("program", one_in(2, PROGRAMS), ids=lambda program: program.name)
def test_nobody_can_tell(program: Program, tmp_path: Path) -> None:
    after = fixed(program.source, tmp_path)
    assert (after != program.source) is program.is_fixed, after
    for arguments in program.inputs:
        assert alike(traces(program.source, arguments), traces(after, arguments)), after


@pytest.mark.parametrize(
    ("asked", "is_fixed"),
    [
        ("type(x) is torch.Tensor", True),
        ("type(x) in (torch.Tensor,)", True),
        ("type(x) == 'Tensor'", False),
        ("type(x) is torch", False),
        ("type(x) in (torch.Tensor, int)", False),
        ("type(x) not in (torch.Tensor, float, object)", False),
    ],
)
def test_types_of_what_is_no_tensor(asked: str, is_fixed: bool, tmp_path: Path) -> None:
    source = f"{HEAD}class Model(nn.Module):\n    def forward(self, x):\n        return 1 if {asked} else 2\n"
    after = fixed(source, tmp_path)
    assert (after != source) is is_fixed
    for arguments in TYPES:
        assert alike(traces(source, arguments), traces(after, arguments)), after


def traces(source: str, arguments: Sequence[Any]) -> list[object]:
    """All that can be seen of two calls of a model."""
    torch.manual_seed(0)
    found: list[object] = []
    with undisturbed():
        model = made(source)()
        for _ in range(2):
            found += _seen_of_a_call(model, arguments)
    return found


def _seen_of_a_call(model: Any, arguments: Sequence[Any]) -> Iterator[object]:
    given = [
        a.detach().clone().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in arguments
    ]
    model.zero_grad()
    try:
        result = model(*given)
    except Exception as error:
        result = type(error).__name__
    results = [t for t in tensors(result) if t.requires_grad]
    try:
        if results:
            sum(t.sum() for t in results).backward()
    except RuntimeError as error:
        yield type(error).__name__
    leaves = [*model.parameters(), *(a for a in given if isinstance(a, torch.Tensor))]
    held = {name: value for name, value in vars(model).items() if not name.startswith("_")}
    yield from (shown(result), shown(given), [shown(leaf.grad) for leaf in leaves], shown(held))
    yield from (shown(model.state_dict()), torch.get_rng_state())


def tensors(value: object) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors(part)


def shown(value: object) -> object:
    """What can be compared of a value."""
    if isinstance(value, torch.Tensor):
        return [value.dtype, value.requires_grad, value.detach().clone()]
    if isinstance(value, dict):
        return {key: shown(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value), *map(shown, value)]
    return copy.copy(value)


def alike(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and bool(torch.allclose(one, other, rtol=0, atol=0, equal_nan=True))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, bytes) and isinstance(other, bytes) and one != other:
        return alike(unpickled(one), unpickled(other))  # the pickle of a tensor says where its memory is
    return type(one) is type(other) and one == other


def unpickled(data: bytes) -> object:
    try:
        return pickle.loads(data)
    except pickle.UnpicklingError:
        return data.hex()
