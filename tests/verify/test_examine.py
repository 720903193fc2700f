"""What the worker finds out about small models: the verdict, and what it says of them."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from exportlint.findings import Mode
from exportlint.verify.kinds import agreed
from exportlint.verify.protocol import End, Record, job
from exportlint.verify.results import Comparison, Run
from exportlint.verify.run import verify
from exportlint.verify.specs import DictSpec, ListSpec, TensorSpec
from exportlint.verify.target import Called, Convention, Guessed, Inputs, Reference, Script, Target, Written
from exportlint.verify.worker import comparing, inputs, models
from exportlint.verify.worker import examine as worker
from exportlint.verify.worker.aside import Aside
from exportlint.verify.worker.differences import difference
from exportlint.verify.worker.specs import evaluate, make_value, names_of
from exportlint.verify.worker.words import Emit

pytestmark = pytest.mark.thorough

torch = pytest.importorskip("torch")

MODELS = """
import random
import time

import torch
from torch import nn

SCALE = torch.ones(3)


class Plain(nn.Module):
    def __init__(self, wide=4, bias=True):
        super().__init__()
        self.layer = nn.Linear(wide, 3, bias=bias)

    def forward(self, x):
        return self.layer(x)


class Branch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        if x.max() > 3:
            x = x * 2
        return x


class Checked(nn.Module):
    def forward(self, x):
        n = x.sum().int().item()
        if n > 3:
            return x[:n]
        return x


class Data(nn.Module):
    def forward(self, x):
        halved = x / 2
        return halved + x.data * 2


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


class Dice(nn.Module):
    def forward(self, x):
        return x * random.random()


class Clock(nn.Module):
    def forward(self, x):
        return x + time.perf_counter_ns() % 1000


class Dropout(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, training=self.training)


class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        self.mean.mul_(0.9).add_(0.1 * x.mean(0))
        return x - self.mean


class Appends(nn.Module):
    def forward(self, items):
        items.append(items[0] * 2)
        return items[0] + 1


class Many(nn.Module):
    def forward(self, x):
        if x.shape[0] >= 64:
            x = x.contiguous()
        return x * 2


class Few(nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[0] <= 6 else x


class Baked(nn.Module):
    def forward(self, x):
        return x.reshape(2, -1).sum(1)


class Sliced(nn.Module):
    def forward(self, x):
        return x[: x.shape[0] // 2] if x.shape[0] > 2 else x


class Pair(nn.Module):
    def forward(self, x, *, mask=None, options):
        return {"sum": (x + options["bias"][0]).sum(1), "mask": mask}


class Types(nn.Module):
    def forward(self, x):
        return x * 2 if type(x) is torch.Tensor else x * 5


class Detached(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 3)]

    def forward(self, x):
        return self.layers[0](x)


class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 10


class Tenfold(nn.Module):
    def forward(self, x):
        return Times.apply(x)


class Hostile(Exception):
    def __str__(self):
        raise RuntimeError("no")


class Raises(nn.Module):
    def forward(self, x):
        raise Hostile


class RaisesInExport(nn.Module):
    def forward(self, x):
        if torch.compiler.is_exporting():
            raise SystemExit(3)
        return x


class Halfway(nn.Module):
    def forward(self, x):
        doubled = x + x
        if doubled is None:
            return x
        return self.passed_on(doubled)

    def passed_on(self, x):
        return x * 3

    def never(self, x):
        return x


class Uncopied(nn.Module):
    def __init__(self):
        super().__init__()
        self.stream = (i for i in range(3))
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x)


class Prints(nn.Module):
    def forward(self, x):
        print(x.shape)


class Infinite(nn.Module):
    def forward(self, x):
        return x * float("inf") * 0, x[:0]


class Empty(nn.Module):
    def forward(self, x):
        return [x[:0], None]


class Totals(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        self.total.add_(x.sum())


class Methods(nn.Module):
    def example_inputs(self):
        return torch.ones(3), torch.ones(3)

    def forward(self, x, y):
        return x + y


INSTANCE = Plain(5)
NUMBER = 3


def factory(wide, *, bias):
    return Plain(wide, bias)


def get_init_inputs():
    return [[6], {"bias": False}]


def get_inputs():
    return [torch.ones(2, 6)]


def one_tensor():
    return torch.ones(2, 4)


def with_keywords():
    return (torch.ones(2, 4),), {"options": {"bias": [torch.ones(4)]}}


def other_inputs():
    return [torch.zeros(2, 4), (torch.ones(5, 4),)]
"""

SCRIPT = """
import sys
import torch
from torch.export import Dim, export

from models import Plain

assert __name__ == "__main__", "run as a script"
assert sys.argv == [__file__]
try:
    first = export(Plain(), (torch.ones(2, 4),))
    batch = Dim("batch", max=8)
    program = torch.export.export(
        Plain(7),
        (torch.ones(2, 7),),
        dynamic_shapes={"x": {0: batch}},
    )
except Exception:
    raise AssertionError("nothing of verify may be caught")
raise AssertionError("the script goes on behind the call")
"""

TWO = Written((TensorSpec("float32", (2, 4)),))
BATCH = Written((TensorSpec("float32", ("batch", 4)),), dimensions={"batch": 2})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("examined").resolve()
    (root / "src" / "shop").mkdir(parents=True)
    (root / "src" / "models.py").write_text(MODELS)
    (root / "src" / "script.py").write_text(SCRIPT)
    (root / "src" / "broken.py").write_text("import not_there_at_all\n")
    (root / "src" / "shop" / "__init__.py").write_text("")
    (root / "src" / "shop" / "parts.py").write_text("def double(x):\n    return x * 2\n")
    (root / "src" / "shop" / "gate.py").write_text(
        "from torch import nn\n\nfrom .parts import double\n\n\nclass Gate(nn.Module):\n"
        "    def forward(self, x):\n        return double(x)\n"
    )
    (root / "code.py").write_text("from torch import nn\n\n\nclass Alone(nn.Identity):\n    pass\n")
    path, modules = list(sys.path), set(sys.modules)
    yield root
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(root) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def target_of(root: Path, model: str, inputs: Inputs, **changes: Any) -> Target:
    module, _, name = model.rpartition(":")
    file = root / "src" / f"{(module or 'models').replace('.', '/')}.py"
    reference = Reference(module or "models", name, file)
    paths = (root / "src",)
    return replace(Target(model, "configured", reference, inputs, (file, 1), root, paths), **changes)


def examine(target: Target, mode: Mode = "non-strict") -> Run:
    """What is sent is JSON, both ways."""
    record = Record(target, mode, "cpu")
    worker.examine(
        json.loads(json.dumps(job(target, mode, "cpu", 1))), lambda event: record.take(json.loads(json.dumps(event)))
    )
    return record.run(End("finished"), 1.0, "")


def shown(run: Run) -> str:
    """All that is said of a run."""
    lines = [f"{run.verdict}: {run.reason}"]
    for failure in run.failures:
        rows = [frame.row for frame in failure.frames]
        lines.append(f"{failure.stage} {failure.type} {failure.message} at {rows} {'further' * failure.further}")
    lines += [f"{c.kind}, {c.label}: {c.agreement} {c.detail}" for c in run.comparisons]
    return "\n".join(lines)


def row_of(text: str) -> int:
    return next(i for i, line in enumerate(MODELS.splitlines(), 1) if text in line)


VERDICTS = [
    ("Plain", BATCH, {}, "non-strict", "exports", ["size, batch = 1: agrees", "size, batch = 3: agrees"]),
    ("Plain", BATCH, {}, "strict", "exports", ["size, batch = 1: agrees", "reloaded, save and load: agrees"]),
    ("Plain", BATCH, {"dynamic": "dynamic"}, "non-strict", "exports", ["decomposed, run_decompositions: agrees"]),
    ("Counter", TWO, {}, "non-strict", "diverges", ["^diverges: again, a later call: 8 of 8 numbers differ"]),
    ("Counter", TWO, {}, "strict", "diverges", ["again, a later call: diverges"]),
    ("Dice", TWO, {}, "non-strict", "diverges", ["example, example: diverges 8 of 8 numbers differ, by up to"]),
    ("Clock", TWO, {}, "non-strict", "diverges", ["example, example: diverges"]),
    ("Dropout", TWO, {"train": True}, "non-strict", "exports", ["example, example: agrees"]),
    ("Running", TWO, {}, "non-strict", "exports", ["state, after several calls: agrees"]),
    ("Few", BATCH, {}, "non-strict", "narrower", ["size, batch = 7: narrower the program raises AssertionError"]),
    ("Baked", TWO, {"varying": (0,)}, "non-strict", "narrower", [
        r"size, x.shape\[0\] = 3: narrower the program raises AssertionError",
    ]),
    ("Many", BATCH, {}, "non-strict", "narrower", ["size, batch = 64: narrower the program raises AssertionError"]),
    ("Baked", BATCH, {}, "non-strict", "narrower", ["size, batch = 3: narrower the program raises AssertionError"]),
    ("Types", TWO, {}, "non-strict", "diverges", ["example, example: diverges"]),
    ("Types", TWO, {}, "strict", "exports", ["example, example: agrees"]),
    ("Detached", TWO, {"gradients": True}, "non-strict", "diverges", [
        "gradients, of the parameters: diverges result 0 has a gradient in eager, and none in the program",
    ]),
    ("Tenfold", TWO, {"gradients": True}, "non-strict", "diverges", [
        "gradients, of inputs and parameters: diverges that of input 0: 8 of 8 numbers differ",
    ]),
    ("Plain", TWO, {"gradients": True}, "non-strict", "exports", [
        "gradients, of the parameters: agrees", "gradients, of inputs and parameters: agrees",
    ]),
    ("Detached", TWO, {}, "non-strict", "exports", []),
    ("Data", TWO, {}, "strict", "diverges", ["the program gives a FakeTensor"]),
    ("Raises", TWO, {}, "non-strict", "cannot be built", [r"eager: Hostile: \(its text raises RuntimeError\)"]),
    ("RaisesInExport", TWO, {}, "non-strict", "fails", ["^fails: SystemExit: 3"]),
    ("Uncopied", TWO, {}, "non-strict", "exports", ["again, a later call: agrees"]),
    ("Prints", TWO, {}, "non-strict", "not compared", ["^not compared: example: eager returns nothing but None"]),
    ("Infinite", TWO, {}, "non-strict", "not compared", ["^not compared: example: eager returns nothing but NaN"]),
    ("Empty", TWO, {}, "non-strict", "not compared", ["again, a later call: skipped eager returns empty tensors"]),
    ("Totals", TWO, {}, "non-strict", "exports", ["state, example: agrees", "values, zeros: skipped eager returns"]),
    ("Plain", TWO, {"others": "other_inputs"}, "non-strict", "exports", [
        r"values, others\[0\]: agrees", r"values, others\[1\]: skipped it has other sizes",
    ]),
    ("Appends", Written((ListSpec((TensorSpec("float32", (3,)),)),)), {}, "non-strict", "diverges", [
        r"state, example: diverges the inputs .*: result\[0\]\[0\] has 2 items in eager, 1 in the program",
    ]),
    ("Plain", TWO, {"arguments": (5,)}, "non-strict", "cannot be built", ["eager: RuntimeError: mat1 and mat2"]),
    ("Plain", TWO, {"arguments": (5, 6, 7)}, "non-strict", "cannot be built", ["build: TypeError: .* positional"]),
    ("Missing", TWO, {}, "non-strict", "cannot be built", [r"build: AttributeError: .*models.py has no Missing"]),
    ("NUMBER", TWO, {}, "non-strict", "cannot be built", ["models:NUMBER is an int, not an nn.Module"]),
    ("one_tensor", TWO, {}, "non-strict", "cannot be built", ["models:one_tensor gives a Tensor, not an nn.Module"]),
    ("broken:Model", TWO, {}, "non-strict", "cannot be built", ["import: ModuleNotFoundError: .*not_there_at_all"]),
    ("Plain", Written((TensorSpec("float31", (2, 4)),)), {}, "non-strict", "cannot be built", [
        "inputs: ValueError: torch .* has no dtype float31",
    ]),
    ("Plain", Convention("get_nothing"), {}, "non-strict", "cannot be built", ["inputs: AttributeError"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "inputs", "changes", "mode", "verdict", "said"),
    VERDICTS,
    ids=[f"{model}-{mode}-{verdict}-{i}" for i, (model, _, _, mode, verdict, _) in enumerate(VERDICTS)],
)
def test_verdict(
    project: Path, model: str, inputs: Inputs, changes: dict[str, Any], mode: Mode, verdict: str, said: list[str]
) -> None:
    if "others" in changes:
        changes = {**changes, "others": Reference("models", changes["others"], project / "src" / "models.py")}
    run = examine(target_of(project, model, inputs, **changes), mode)
    assert run.verdict == verdict, shown(run)
    for pattern in said:
        assert re.search(pattern, shown(run), re.MULTILINE), shown(run)
    assert (run.reason == "") == (verdict == "exports")


def test_all_failures_are_told_with_their_lines(project: Path) -> None:
    # What `draft_export` tells depends on what torch did before in the same process.
    (run,) = verify([target_of(project, "Branch", TWO)], Path(sys.executable))
    assert run.verdict == "fails"
    rows = [(failure.frames[-1].row, failure.frames[-1].function, failure.further) for failure in run.failures]
    assert rows == [(row_of("if x.sum() > 0"), "forward", False), (row_of("if x.max() > 3"), "forward", True)]
    assert {Path(f.file).name for failure in run.failures for f in failure.frames} == {"models.py"}


def test_strict_export_blames_the_line_as_well(project: Path) -> None:
    run = examine(target_of(project, "Branch", TWO), "strict")
    assert run.failures[0].frames[-1].row == row_of("if x.sum() > 0")


def test_checks_that_torch_suggests_are_hints(project: Path) -> None:
    run = examine(target_of(project, "Checked", TWO))
    assert run.failures[0].frames[-1].row == row_of("if n > 3")
    assert run.failures[0].hints == ("torch._check(n > 3)", "torch._check(n <= 3)"), run.failures[0].message


def test_constants_of_the_trace_are_blamed_on_the_line_with_data(project: Path) -> None:
    run = examine(target_of(project, "Data", TWO))
    assert run.verdict == "fails"
    assert run.failures[0].frames[-1].row == row_of("x.data * 2")


def test_lines_that_run(project: Path) -> None:
    run = examine(target_of(project, "Halfway", TWO))
    ran = ("doubled = x + x", "if doubled is None", "return self.passed_on(doubled)", "return x * 3")
    assert run.lines == {str(project / "src" / "models.py"): tuple(map(row_of, ran))}


def test_files_that_were_imported(project: Path) -> None:
    run = examine(target_of(project, "shop.gate:Gate", TWO))
    assert run.verdict == "exports", shown(run)
    for name in ("gate.py", "parts.py", "__init__.py"):
        file = project / "src" / "shop" / name
        assert run.files[str(file)] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert set(map(Path, run.lines)) == {project / "src" / "shop" / "gate.py", project / "src" / "shop" / "parts.py"}
    assert run.versions["torch"] == torch.__version__


def test_a_file_that_deletes_itself(project: Path) -> None:
    file = project / "src" / "gone.py"
    file.write_text("from pathlib import Path\nfrom torch import nn\nPath(__file__).unlink()\nModel = nn.Identity\n")
    run = examine(target_of(project, "gone:Model", TWO))
    assert run.verdict == "exports", shown(run)
    assert str(file) not in run.files


def test_a_file_with_the_name_of_another_module(project: Path) -> None:
    reference = Reference("code", "Alone", project / "code.py")  # `code` is Python's own
    run = examine(replace(target_of(project, "Plain", TWO), model=reference))
    assert run.verdict == "exports", shown(run)


@pytest.mark.parametrize(
    ("model", "inputs", "changes", "described"),
    [
        ("factory", TWO, {"arguments": (4,), "keywords": {"bias": False}}, ["x: float32[2, 4]"]),
        ("INSTANCE", Written((TensorSpec("float32", (2, 5)),)), {}, ["x: float32[2, 5]"]),
        ("Plain", Convention("get_inputs"), {"init_inputs": "get_init_inputs"}, ["x: float32[2, 6]"]),
        ("Methods", Convention("example_inputs", of_model=True), {}, ["x: float32[3]", "y: float32[3]"]),
        ("Plain", Called(Reference("models", "one_tensor"), [{"0": "batch"}]), {}, ["x: float32[batch=2, 4]"]),
        ("Plain", Called(Reference("models", "one_tensor")), {"varying": (0,)}, ["x: float32[x.shape[0]=2, 4]"]),
        (
            "Pair",
            Called(Reference("models", "with_keywords"), {"x": {"0": "n"}}),
            {},
            ["x: float32[n=2, 4]", "options[0]: float32[4]"],
        ),
        (
            "Pair",
            Written(
                (TensorSpec("float32", ("2*n", "m")),),
                {
                    "mask": TensorSpec("bool", ("n",)),
                    "options": DictSpec({"bias": ListSpec((TensorSpec("float64", ("m",)),))}),
                },
                {"n": 3, "m": 4},
            ),
            {},
            ["x: float32[2*n=6, m=4]", "mask: bool[n=3]", "options[0]: float64[m=4]"],
        ),
    ],
)  # fmt: skip
def test_ways_to_give_model_and_inputs(
    project: Path, model: str, inputs: Inputs, changes: dict[str, Any], described: list[str]
) -> None:
    run = examine(target_of(project, model, inputs, **changes), "strict" if model == "Pair" else "non-strict")
    assert run.verdict == "exports", shown(run)
    assert list(run.inputs) == described
    sizes = [c for c in run.comparisons if c.kind == "size"]
    assert bool(sizes) == any("=" in line for line in described)


def test_a_script_is_run_up_to_its_call(project: Path) -> None:
    file = project / "src" / "script.py"
    row = next(i for i, line in enumerate(SCRIPT.splitlines(), 1) if "program = " in line)
    run = examine(target_of(project, "script:Plain", Script(file, row)))
    assert run.verdict == "exports", shown(run)
    assert run.inputs == ("x: float32[batch=2, 7]",)
    tried = [c.label for c in run.comparisons if c.kind == "size"]
    assert tried == ["batch = 3", "batch = 4", "batch = 1", "batch = 8"]


def test_a_script_that_does_not_get_there(project: Path) -> None:
    run = examine(target_of(project, "script:Plain", Script(project / "src" / "models.py", 4)))
    assert run.verdict == "cannot be built"
    assert "ended without calling torch.export at line 4" in run.reason


def test_inputs_that_nobody_found(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def infer(*_: object) -> None:
        raise LookupError("no size fits")

    monkeypatch.setattr(inputs, "infer", infer)
    run = examine(target_of(project, "Plain", Guessed({"x": (TensorSpec("float32", (2, 4)),)})))
    assert (run.verdict, run.reason) == ("cannot be built", "inputs: LookupError: no size fits")


@pytest.mark.parametrize(
    ("size", "value"),
    [(3, 3), ("n", 6), ("2*n + 1", 13), ("n // m", 3), ("(n - m) * 2", 8), ("n / m", 3), ("n % 4", 2)],
)
def test_sizes(size: int | str, value: int) -> None:
    assert evaluate(size, {"n": 6, "m": 2}) == value


@pytest.mark.parametrize("name", ["x.shape[0]", "xs['a'].shape[-1]", "*args[0].shape[1]"])
def test_a_dimension_without_a_name_is_called_after_its_place(name: str) -> None:
    assert evaluate(name, {name: 6}) == 6
    assert names_of("2*x.shape[0] + n") == {"x.shape[0]", "n"}
    assert evaluate("2*x.shape[0] + n", {"x.shape[0]": 3, "n": 1}) == 7


@pytest.mark.parametrize(
    "size", ["k", "n.real", "__import__('os')", "n if n else m", "1 // 0", "m - n", "n +", "2**99"]
)
def test_what_is_no_size(size: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(size))):
        evaluate(size, {"n": 6, "m": 2})


@pytest.mark.parametrize(
    ("spec", "low", "high"),
    [
        (TensorSpec("int64", (50,)), 0, 1),
        (TensorSpec("int64", (50,), high=1000), 0, 999),
        (TensorSpec("int32", (50,), low=5, high=7), 5, 6),
        (TensorSpec("uint8", (500,)), 0, 255),
        (TensorSpec("float16", (50,), low=0, high=1), 0, 1),
        (TensorSpec("bfloat16", (50,), low=0), 0, 9),
    ],
)
def test_numbers_are_in_their_range(spec: TensorSpec, low: float, high: float) -> None:
    encoded = {"tensor": {"dtype": spec.dtype, "shape": list(spec.shape), "low": spec.low, "high": spec.high}}
    made = make_value(encoded, {}, torch.Generator().manual_seed(0), "cpu")
    assert str(made.dtype) == f"torch.{spec.dtype}"
    assert low <= made.min() < made.max() <= high


def test_tolerance_is_relative_to_the_largest_number() -> None:
    one = torch.tensor([1000.0, 0.001])
    assert difference(one, one + 0.05, None) is None
    assert difference(one, one + 0.5, None) is not None
    assert difference(one, one + 0.5, 1e-3) is None


@pytest.mark.parametrize(
    ("end", "events", "verdict", "reason"),
    [
        (End("timed out"), [{"stage": "export"}], "times out", "timed out during export"),
        (End("crashed", "signal 11"), [{"stage": "export"}], "fails", "crashed during export (signal 11)"),
        (End("crashed"), [{"stage": "import"}], "cannot be built", "crashed during import"),
        (End("out of memory"), [{"stage": "eager"}], "cannot be built", "out of memory during eager"),
        (End("finished"), [{"stage": "eager"}], "cannot be built", "ended by itself during eager"),
        (
            End("crashed"),
            [{"stage": "compare"}, {"probe": "the program, zeros"}],
            "diverges",
            "crashed during compare of the program, zeros",
        ),
        (
            End("out of memory"),
            [{"stage": "compare"}, {"probe": "the program, zeros"}],
            "not compared",
            "out of memory during compare of the program, zeros",
        ),
        (
            End("crashed", "SIGABRT"),
            [{"stage": "compare"}, {"probe": "the program, save and load", "kind": "reloaded"}],
            "not compared",
            "crashed during compare of the program, save and load (SIGABRT)",
        ),
        (
            End("crashed", "signal 11"),
            [{"stage": "compare"}, {"probe": "eager, zeros"}],
            "not compared",
            "crashed during compare of eager, zeros (signal 11)",
        ),
        (End("crashed"), [{"stage": "compare"}], "fails", "crashed during compare"),
    ],
)
def test_jobs_that_end_early(end: End, events: list[dict[str, Any]], verdict: str, reason: str) -> None:
    target = Target("t", "configured", Reference("m", "M"), TWO, (Path("m.py"), 1), Path())
    record = Record(target, "strict", "cpu")
    for event in events:
        record.take(event)
    run = record.run(end, 2.0, "printed")
    assert (run.verdict, run.reason) == (verdict, reason)
    assert (run.mode, run.device, run.seconds, run.output) == ("strict", "cpu", 2.0, "printed")


def test_what_is_known_of_comparisons_survives_a_crash(project: Path) -> None:
    target = target_of(project, "Plain", TWO)
    record = Record(target, "non-strict", "cpu")
    seen = {"kind": "example", "label": "example", "agreement": "diverges", "detail": "all", "difference": 2.0}
    record.take({"stage": "compare"})
    record.take({"comparison": seen})
    run = record.run(End("crashed"), 1.0, "")
    assert (run.verdict, run.reason) == ("diverges", "example: all")
    assert run.comparisons[0] == Comparison("example", "example", "diverges", "all", 2.0)


@pytest.mark.parametrize(
    ("who", "how", "agreement"),
    [("eager", "crashed", "skipped"), ("eager", "timed out", "skipped"), ("the program", "crashed", "diverges")],
)
def test_a_comparison_that_is_cut_short_does_not_agree(
    who: str, how: Literal["crashed", "timed out"], agreement: str, project: Path
) -> None:
    record = Record(target_of(project, "Plain", TWO), "non-strict", "cpu")
    seen = {"kind": "values", "label": "random", "agreement": "agrees", "detail": "", "difference": None}
    for event in ({"stage": "compare"}, {"comparison": seen}, {"probe": f"{who}, zeros", "kind": "values"}):
        record.take(event)
    run = record.run(End(how), 1.0, "")
    assert [(c.kind, c.label, c.agreement) for c in run.comparisons[1:]] == [("values", "zeros", agreement)]
    assert "values" not in agreed(run)


def test_large_parameters(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not copied for each call, and yet no call sees what another one has written."""
    for module in (models, comparing):
        monkeypatch.setattr(module, "LARGE", 100)
    (project / "src" / "large.py").write_text(LARGE)
    kept = examine(target_of(project, "large:Kept", TWO))
    assert kept.verdict == "exports", shown(kept)
    written = examine(target_of(project, "large:Written", TWO))
    assert (written.verdict, written.failures) == ("exports", ()), shown(written)


LARGE = """
import torch
from torch import nn


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.ones(100))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return x + self.table[:4] * self.calls


class Written(Kept):
    def forward(self, x):
        with torch.no_grad():
            self.table += 1
        return x + self.table[:4]
"""


def test_comparisons_leave_time_for_the_verdict(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_FOR_ALL", 0.0)
    run = examine(target_of(project, "Counter", TWO))
    agreements = {c.kind: (c.agreement, c.detail) for c in run.comparisons}
    assert run.verdict == "exports", shown(run)
    assert agreements["example"] == ("agrees", "")
    assert agreements["again"] == ("skipped", "no time is left for it")
    assert agreements["device"] == ("agrees", "the program names no device")


@pytest.mark.parametrize(("load", "aside"), [(0.0, ["decomposed", "environment"]), (1e6, ["environment"])])
def test_while_no_processor_is_idle_only_other_worlds_are_compared_aside(
    load: float, aside: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    class Recorded(Aside):
        def __init__(self, work: Callable[[Emit], None]) -> None:
            begun.append(inspect.getclosurevars(work).nonlocals["kind"])
            super().__init__(work)

    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
    monkeypatch.setattr(comparing, "Aside", Recorded)
    monkeypatch.setattr(Recorded, "is_possible", lambda: True)
    run = examine(target_of(project, "Plain", BATCH))
    assert (run.verdict, begun) == ("exports", aside), shown(run)
    assert {c.kind for c in run.comparisons if c.agreement == "agrees"} >= {"decomposed", "reloaded"}


@pytest.mark.skipif(torch.cuda.is_available(), reason="a real device is tried instead")
def test_devices_that_are_named_in_a_program(project: Path) -> None:
    (project / "src" / "placed.py").write_text(PLACED)
    portable = examine(target_of(project, "placed:Portable", TWO))
    assert "device, meta: agrees once it is moved by torch.export.passes: the program holds" in shown(portable)
    assert "line 8 of placed.py" in shown(portable)
    bound = examine(target_of(project, "placed:Bound", TWO))
    assert "device, meta: skipped eager does not run there" in shown(bound)


PLACED = """
import torch
from torch import nn


class Portable(nn.Module):
    def forward(self, x):
        return x + torch.ones(4, device=x.device)


class Bound(nn.Module):
    def forward(self, x):
        return x + torch.ones(4)
"""
