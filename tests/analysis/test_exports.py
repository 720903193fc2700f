"""Calls of torch.export are found wherever code makes them, and what a script knows about its values is followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exportlint.analysis.eval.engine import Options
from exportlint.analysis.facts import Fact
from exportlint.analysis.project import Project
from exportlint.analysis.scripts import export_facts
from exportlint.analysis.scripts.dims import exported_dims
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import TorchVersion
from exportlint.linter import Task, lint
from exportlint.source import from_bytes
from exportlint.syntax.definitions import Module

NET = """\
import torch
from torch import nn
from torch.export import Dim, export

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout()
    def forward(self, x, y=None):
        return self.drop(x)

"""


def found(source: str, version: TorchVersion = (2, 13)) -> list[tuple[int, str, str]]:
    """Row, counted from the end of NET if it starts with that, name and severity."""
    root = Path("/nowhere")
    settings = combine([Layer(root, {"torch-version": version, "ignore": ("training-mode",)})], root)
    task = Task(root / "script.py", settings, data=source.encode())
    first = NET.count("\n") if source.startswith(NET) else 0
    return [(f.span.start.row - first, f.name, f.severity.value) for f in lint([task]).findings]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("ep = export(Net().eval(), (torch.ones(2),))\nep(torch.ones(2))", [(2, "exported-program-call", "error")]),
        ("def main():\n    export(lambda x: x, (torch.ones(2),))", [(2, "export-target", "error")]),
        ("if __name__ == '__main__':\n    export(Net, (torch.ones(2),))", [(2, "export-target", "error")]),
        (
            "class Exporter:\n    def run(self, m, x):\n        return export(m.forward, (x,))",
            [(3, "export-target", "error")],
        ),
        (
            "def save(model, x):\n    return export(model, x)\nsave(Net().eval(), torch.ones(2))",
            [(2, "export-arguments", "error")],
        ),
        ("def save(model, x):\n    return export(model, x)\nsave(Net().eval(), (torch.ones(2),))", []),
        ("export(Net().eval(), torch.sin(torch.ones(2)))", [(1, "export-arguments", "error")]),
        ("export(Net().eval(), torch.ones(2).cumsum(0).sigmoid())", [(1, "export-arguments", "error")]),
        ("def build():\n    return Net()\nexport(build(), (torch.ones(2),))", [(3, "training-mode-export", "info")]),
        ("def build():\n    return Net().eval()\nexport(build(), (torch.ones(2),))", []),
        ("model = Net()\nif torch.rand(1) > 0:\n    model.eval()\nexport(model, (torch.ones(2),))", []),
        ("model = Net()\nprepare(model)\nexport(model, (torch.ones(2),))", []),
        ("with torch.no_grad():\n    export(Net(), (torch.ones(2),))", [(2, "training-mode-export", "info")]),
        ("x = torch.ones(2)\nif torch.rand(1) > 0:\n    x = (x,)\nexport(Net().eval(), x)", []),
        ("import pytest\nwith pytest.raises(ValueError):\n    export(torch.sin, (torch.ones(2),))", []),
        ("model = Net().eval()\nfor n in (2, 4):\n    export(model, (torch.ones(n),)).module()(torch.ones(n))", []),
        (
            "model = torch.jit.script(Net())\nmodel = Net().eval()\nexport(model, (torch.ones(2),))",
            [(1, "torchscript-capture", "info")],
        ),
        ("def model():\n    return Net().eval()\nmodel = model()\nexport(model, (torch.ones(2),))", []),
        ("def run(ep: torch.export.ExportedProgram, x):\n    return ep(x)", [(2, "exported-program-call", "error")]),
        ("def go(x=None):\n    if x is None:\n        raise ValueError\n    export(Net().eval(), x)\ngo()", []),
        ("def go(x=None):\n    x = (torch.ones(2),) if x is None else x\n    export(Net().eval(), x)\ngo()", []),
        ("def run(export):\n    return export(lambda x: x, 3)", []),
    ],
)
def test_follows_a_script(script: str, expected: list[tuple[int, str, str]]) -> None:
    assert found(NET + script) == expected


@pytest.mark.parametrize(
    ("script", "version", "expected"),
    [
        (
            (
                "import numpy as np\nimport torch\nfrom torchvision.models.video import mvit_v1_b\n"
                "clips = np.transpose(torch.randn(2, 16, 224, 224, 3), (0, 4, 1, 2, 3))\n"
                "program = torch.export.export(mvit_v1_b().eval(), (clips,))\n"
                "clips = np.transpose(torch.randn(4, 16, 224, 224, 3), (0, 4, 1, 2, 3))\n"
                "program.module()(clips)\n"
            ),
            (2, 13),
            [(5, "static-batch", "warning")],
        ),
        (
            (
                "import torch\nfrom transformers import WhisperForConditionalGeneration\n"
                "model = WhisperForConditionalGeneration.from_pretrained('whisper')\nmodel.eval()\n"
                "torch.export.export(model, args=(torch.randn(2, 80, 3000),))\n"
            ),
            (2, 6),
            [(5, "strict-mode", "info")],
        ),
        (
            (
                "from torch.export import export\nfrom ultralytics import YOLO\nimport torch\n"
                "export(YOLO('pose.pt').model, args=(torch.rand(2, 3, 64, 64),), strict=True)\n"
            ),
            (2, 13),
            [(4, "strict-mode", "info")],
        ),
        (
            (
                "import torch\nclass Predictor:\n    def predict(self, points):\n"
                "        return torch.export.export(self._predict, args=(points,), kwargs={'k': True})\n"
                "    def _predict(self, points, k): return points\n"
            ),
            (2, 13),
            [(4, "export-target", "error")],
        ),
        (
            (
                "import torch\n\ndef capture(model):\n    program = torch.export.export(model, (torch.ones(2, 3),))\n"
                "    torch.export.save(program, 'model.pt2')\n"
                "    return torch.export.load('model.pt2').module().to('cuda')\n"
            ),
            (2, 13),
            [(4, "static-batch", "info"), (6, "program-device", "info")],
        ),
    ],
    ids=["static batch", "strict by default", "strict", "bound method", "saved and moved"],
)
def test_what_tutorials_teach_by_failing(
    script: str, version: TorchVersion, expected: list[tuple[int, str, str]]
) -> None:
    assert found(script, version) == expected


def test_files_that_do_not_mention_export_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from exportlint.analysis.scripts import run

    ran: list[Module] = []

    def run_file(module: Module, *_: object) -> tuple[Fact, ...]:
        ran.append(module)
        return ()

    monkeypatch.setattr(run, "run_file", run_file)
    found("import torch\nmodel = torch.nn.ReLU()\n")
    assert not ran
    found("import torch\ntorch.export.load('x')\n")
    assert ran


def dims(call: str) -> dict[str, dict[str, set[int]]]:
    source = from_bytes((NET + call).encode(), Path("/nowhere/script.py"), "script.py")
    project = Project()
    given = exported_dims(export_facts(project.add(source), project, Options()))
    return {name: {parameter: set(d) for parameter, d in of.items()} for name, of in given.items()}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("export(Net(), (torch.ones(2, 3),))", {}),
        ("export(Net(), (x,), dynamic_shapes={'x': {0: Dim('b'), 1: Dim.STATIC}})", {"script.Net": {"x": {0}}}),
        ("export(Net(), (x,), dynamic_shapes=({1: Dim.AUTO},))", {"script.Net": {"x": {1}}}),
        ("export(Net(), (x, x), dynamic_shapes=[(Dim.DYNAMIC, None), None])", {"script.Net": {"x": {0}, "y": set()}}),
        ("b = Dim('b')\nexport(Net(), (x,), {'y': x}, dynamic_shapes={'x': {0: b}, 'y': {1: 2 * b}})",
         {"script.Net": {"x": {0}, "y": {1}}}),
        ("export(Net(), (torch.ones(2, 3),), dynamic_shapes={'x': {-1: Dim.AUTO}})", {"script.Net": {"x": {1}}}),
        ("export(Net(), (x,), dynamic_shapes={'x': {0: b}})\nexport(Net(), (x,), dynamic_shapes={'x': {1: b}})",
         {"script.Net": {"x": {0, 1}}}),
        ("def go(shapes):\n    export(Net(), (x,), dynamic_shapes=shapes)\ngo({'x': {0: Dim.AUTO}})",
         {"script.Net": {"x": {0}}}),
        ("export(Net(), (x,), dynamic_shapes={'z': {0: Dim('b')}})", {}),
    ],
)  # fmt: skip
def test_exported_dims(call: str, expected: dict[str, dict[str, set[int]]]) -> None:
    assert dims("x, b = torch.ones(2, 3), Dim('b')\n" + call) == expected


TWO_DIMENSIONS = """\
import torch
from torch import nn
from torch.export import Dim, export

class Net(nn.Module):
    def forward(self, x, y):
        return x.sum() + y.sum()

class Nested(nn.Module):
    def forward(self, xs, scale=None):
        return sum(x.sum() for x in (xs.values() if isinstance(xs, dict) else xs))

X, Y = torch.ones(4, 3), torch.ones(5, 3)
n, m = Dim("n"), Dim("m")
"""


@pytest.mark.parametrize(
    ("call", "is_refused"),
    [
        ("export(Net(), (X, Y), dynamic_shapes={'x': {0: n}, 'y': {0: n}})", True),
        ("export(Net(), (X, Y), dynamic_shapes=({0: n}, {0: Dim('n')}))", True),
        ("export(Net(), (X, X + 1), dynamic_shapes=((n, n), None))", True),
        ("export(Net(), (X, torch.ones(2, 3)), dynamic_shapes=({0: n}, {0: n}), strict=True)", True),
        ("export(Net(), (X, X + 1), dynamic_shapes=({0: Dim('k', max=8)}, {0: Dim('k', max=9)}))", True),
        ("export(Net(), (X, X + 1), dynamic_shapes=({0: Dim('k', min=2)}, {0: Dim('k', min=3)}), strict=True)", True),
        ("export(Net(), (X, X + 1), dynamic_shapes={'x': {0: n}, 'y': {0: n}})", False),
        ("export(Net(), (X, Y), dynamic_shapes={'x': {0: n}, 'y': {0: m}})", False),
        ("export(Net(), (X, Y), dynamic_shapes=({0: n}, {0: n + 1}))", False),
        ("export(Net(), (X, Y), dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))", False),
        ("export(Net(), (X, X + 1), dynamic_shapes=({0: Dim('k', max=8)}, {0: Dim('k', max=8)}))", False),
        # derived dimensions
        ("export(Net(), (X, Y), dynamic_shapes=({0: n}, {0: n + 2}))", True),
        ("export(Net(), (X, Y), dynamic_shapes=({0: 2 * m}, {0: 2 * n}))", True),
        ("export(Net(), (X, Y), dynamic_shapes=({0: 2 * m}, {0: 2 * n + 1}))", False),
        ("export(Net(), (X, Y), dynamic_shapes=({0: 4 * m}, None))", True),
        ("export(Net(), (X, Y), dynamic_shapes=({0: 2 * m}, {0: m + 2}))", True),
        ("export(Net(), (X, Y), dynamic_shapes=({0: 2 * m}, {0: m + 3}))", False),
        ("export(Net(), (X, Y), dynamic_shapes=(None, {0: 2 * Dim('k', max=2) + 1}))", False),
        ("export(Net(), (X, Y), dynamic_shapes=(None, {0: Dim('k', max=3) + 1}))", True),
        # sizes and what is none
        ("export(Net(), (X, Y), dynamic_shapes=({0: 4}, {0: 5, 1: 3}))", False),
        ("export(Net(), (X, Y), dynamic_shapes=({0: 3}, None))", True),
        ("export(Net(), (X, Y), dynamic_shapes=([None, 4], None))", True),
        ("export(Net(), (X, Y), dynamic_shapes=({0: 4.0}, None))", True),
        # containers
        ("export(Nested(), ([X, Y],), dynamic_shapes={'xs': [{0: n}, None]})", False),
        ("export(Nested(), ([X, Y],), dynamic_shapes={'xs': ({0: n}, None)})", True),
        ("export(Nested(), ([X, Y],), dynamic_shapes={'xs': [{0: n}]})", True),
        ("export(Nested(), ([X, Y],), dynamic_shapes={'xs': {0: n}})", True),
        ("export(Nested(), ([X, Y],), dynamic_shapes={'xs': None})", True),
        ("export(Nested(), ({'a': X, 'b': Y},), dynamic_shapes={'xs': {'a': {0: n}, 'b': None}})", False),
        ("export(Nested(), ({'a': X, 'b': Y},), dynamic_shapes={'xs': {'a': {0: n}}})", True),
        ("export(Nested(), ({'a': X, 'b': Y},), dynamic_shapes={'xs': {0: n}})", True),
        ("export(Nested(), ({'a': X, 'b': Y},), dynamic_shapes={'xs': ({0: n}, None)})", True),
        # what is no tensor
        ("export(Nested(), ([X, Y], None), dynamic_shapes={'xs': [None, None], 'scale': None})", False),
        ("export(Nested(), ([X, Y], None), dynamic_shapes={'xs': [None, None], 'scale': {0: n}})", True),
        ("export(Nested(), ([X, Y], 2), dynamic_shapes={'xs': [None, None], 'scale': Dim.DYNAMIC})", False),
        ("export(Nested(), ([X, Y], 2), dynamic_shapes={'xs': [None, None], 'scale': {0: n}})", True),
        ("export(Nested(), ([X, Y], 0.5), dynamic_shapes={'xs': [None, None], 'scale': Dim.AUTO})", True),
    ],
)
def test_dynamic_shapes_have_to_fit_the_inputs(call: str, is_refused: bool) -> None:
    assert ("dynamic-shapes" in {name for _, name, _ in found(TWO_DIMENSIONS + call)}) == is_refused
    torch = pytest.importorskip("torch")
    refusals = (
        torch._dynamo.exc.UserError,
        torch.fx.experimental.symbolic_shapes.ConstraintViolationError,
        AssertionError,
    )
    try:
        exec(TWO_DIMENSIONS + call, {"__name__": "script"})
    except refusals:
        assert is_refused
    else:
        assert not is_refused


BRANCHES = """\
import torch
from torch import nn
from torch.export import Dim, export

class Model(nn.Module):
    def forward(self, x, y):
        if x.shape[0] > 5: return x
        if x.shape[1] > 5: return x
        if y.shape[0] > 5: return y
        if y.shape[1] > 5: return y
        return x + y

x = y = torch.ones(3, 4)
"""

TWICE = """
export(Model(), (x, y), dynamic_shapes=({0: Dim('a', max=5)}, None))
export(Model(), (x, y), dynamic_shapes=({0: Dim('a', min=6)}, None))
"""


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        ("", {7, 9}),
        ("export(Model(), (x, y))", {7, 9}),
        ("export(Model(), (x, y), dynamic_shapes={'x': {1: Dim.AUTO}, 'y': None})", {8}),
        ("export(Model(), (x, y), dynamic_shapes=({0: Dim('a'), 1: Dim('b')}, {1: Dim('b')}))", {7, 8, 10}),
        ("export(Model(), (x, y), dynamic_shapes=({i: Dim(f'x{i}') for i in range(x.dim())}, None))", {7, 8}),
        ("export(Model(), (x, y), dynamic_shapes=({i: Dim(f'x{i}') for i in range(n)}, None))", set()),
        ("export(Model(), (x, y), dynamic_shapes=[{i: Dim.AUTO for i in range(2)} for _ in (x, y)])", {7, 8, 9, 10}),
        ("export(Model(), (x, y), dynamic_shapes=({0: Dim('a', max=5)}, {0: Dim('b', min=6)}))", set()),
        ("export(Model(), (x, y), dynamic_shapes=({0: Dim('a', max=6)}, {0: Dim('b', min=5)}))", {7, 9}),
        (TWICE, {7}),
    ],
)
def test_the_call_decides_which_sizes_vary(call: str, rows: set[int]) -> None:
    assert {row for row, name, _ in found(BRANCHES + call) if name == "size-branch"} == rows


BOUNDS = """\
import torch
from torch import nn
from torch.export import Dim, export

class Model(nn.Module):
    def forward(self, x):
        n = x.shape[0]
        if {condition}: return x + 1
        return x

export(Model(), (torch.ones(6, 4),), dynamic_shapes=({{0: Dim('n', min=4, max=8)}},))
"""


@pytest.mark.parametrize(
    ("condition", "is_open"),
    [
        ("n < 4", False), ("n < 5", True), ("n <= 3", False), ("n <= 4", True), ("n > 8", False), ("n > 7", True),
        ("n >= 9", False), ("n >= 8", True), ("n == 3", False), ("n == 4", True), ("n == 8", True), ("n != 9", False),
        ("n == 1", False), ("n > 1", False), ("4 <= n", False), ("9 > n", False), ("8 > n", True), ("n % 2", True),
        ("2 * n > 20", False), ("2 * n > 12", True), ("x[:4].sum(0).shape[0] > 8", False), ("x.shape == (9, 4)", False),
    ],
)  # fmt: skip
def test_bounds_settle_conditions(condition: str, is_open: bool) -> None:
    assert ("size-branch" in {name for _, name, _ in found(BOUNDS.format(condition=condition))}) == is_open


@pytest.mark.parametrize(("part", "is_fixed"), [("x[:4]", False), ("x[:5]", True), ("x[-4:]", False), ("x[5:]", True)])
def test_bounds_settle_slices(part: str, is_fixed: bool) -> None:
    source = BOUNDS.replace("if {condition}: return x + 1", "x = {condition}").format(condition=part)
    assert ("fixed-size" in {name for _, name, _ in found(source)}) == is_fixed


DERIVED = """\
import torch
from torch import nn
from torch.export import Dim, export

class Model(nn.Module):
    def forward(self, x):
        if x.shape[0] {test}: return x + 1
        return x

n = Dim('n', {bounds})
export(Model(), (torch.ones({size}, 4),), dynamic_shapes=({{0: {dim}}},))
"""


@pytest.mark.parametrize(
    ("dim", "bounds", "size", "lowest", "highest"),
    [
        ("3 * n + 1", "min=2, max=10", 10, 7, 31),
        ("n * 2", "min=3, max=5", 8, 6, 10),
        ("n + 5", "min=2, max=4", 8, 7, 9),
        ("n - 1", "min=8, max=12", 9, 7, 11),
        ("2 * (n + 1) - 3", "min=4, max=6", 9, 7, 11),
        ("4 * n", "min=2", 12, 8, None),
    ],
)
def test_the_bounds_of_a_dimension_hold_for_those_made_of_it(
    dim: str, bounds: str, size: int, lowest: int, highest: int | None
) -> None:
    """What no size can do decides nothing, and what one can do is told; torch has the same bounds."""

    def is_told(test: str) -> bool:
        source = DERIVED.format(test=test, dim=dim, bounds=bounds, size=size)
        return "size-branch" in {name for _, name, _ in found(source)}

    assert not is_told(f"< {lowest}")
    assert is_told(f"< {lowest + 1}")
    if highest is not None:
        assert not is_told(f"> {highest}")
        assert is_told(f"> {highest - 1}")
    pytest.importorskip("torch")
    scope: dict[str, Any] = {}
    source = DERIVED.format(test="< 0", dim=dim, bounds=bounds, size=size).replace("\nexport(", "\nprogram = export(")
    exec(source, scope)
    found_ranges = scope["program"].range_constraints.values()
    ranges = [(int(one.lower), None if one.upper > 10**6 else int(one.upper)) for one in found_ranges]
    assert (lowest, highest) in ranges
