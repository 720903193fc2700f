"""What verify says of models whose verdict was wrong once, with the real torch.export, in a process of its own."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from exportlint.config import Configuration
from exportlint.findings import Mode
from exportlint.report import Context
from exportlint.verify.linting import Linted
from exportlint.verify.reports.text import Printer
from exportlint.verify.results import Run
from exportlint.verify.run import verify
from exportlint.verify.specs import Constant, Spec, TensorSpec
from exportlint.verify.target import Guessed, Inputs, Reference, Target, Written

pytestmark = pytest.mark.thorough

pytest.importorskip("torch")

HEAD = """\
import datetime, os, signal, threading, time, typing
from time import time as now

import torch
from torch import nn

SETTINGS = {"scale": 2.0}
CALLS = torch.zeros(3)


"""

X = TensorSpec("float32", (2, 3))


@dataclass(frozen=True)
class Case:
    """A class `Model`, what it is called with, the verdict, and what the text and the rulings on findings match."""

    code: str
    verdict: str
    said: str = ""
    rulings: tuple[tuple[str, str], ...] = ()
    inputs: tuple[Spec, ...] | None = (X,)
    sizes: tuple[tuple[str, int], ...] = ()


def forward(body: str, arguments: str = "x", rest: str = "") -> str:
    lines = [f"    def forward(self, {arguments}):", *(f"        {line}" for line in body.splitlines())]
    return "\n".join(["class Model(nn.Module):", *([rest] if rest else []), *lines, ""])


def layer(made: str) -> str:
    return f"    def __init__(self):\n        super().__init__()\n        self.layer = {made}\n"


COUNTS = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls
"""

HELPER = """\
class Model(nn.Module):
    def forward(self, x):
        return self.passed_on(x) * time.time()

    def passed_on(self, x):
        return x if x.sum() > 0 else -x
"""

CASES = {
    # A claim is confirmed by what raises itself, not by what calls that.
    "the line that raises is another one": Case(
        HELPER, "fails", "", (("EXP101", "confirmed"), ("EXP503", "not reached"))
    ),
    # Calls of the model change a global tensor, which the program holds as well.
    "a global tensor that export changes": Case(
        forward("CALLS.add_(1)\nreturn x + CALLS"), "diverges", "", (("EXP311", "confirmed"),)
    ),
    "a part of a global tensor that only calls change": Case(
        forward("CALLS[0] += 1\nreturn x + CALLS"), "diverges", r"diverges +non-strict .* run_decompositions"
    ),
    # A claim is refuted by what could have shown it.
    "identity": Case(forward("return x + id(x)"), "diverges", "identity", (("EXP601", "confirmed"),)),
    "identity below the tolerance": Case(
        forward("return x + id(x) * 1e-25"), "exports", "", (("EXP601", "not reached"),)
    ),
    "a branch of a flag whose effect never runs": Case(
        "class Part(nn.Module):\n    def forward(self, x):\n        return x * 2\n\n\n"
        "class Model(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.part, self.first = Part(), True\n\n"
        "    def forward(self, x):\n        if self.first:\n            for p in self.part.parameters():\n"
        "                p.zero_()\n            self.first = False\n        return self.part(x)\n",
        "exports",
        "",
        (("EXP306", "not reached"),),
    ),
    "state below the tolerance": Case(
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.calls = 0\n\n"
        "    def forward(self, x):\n        self.calls += 1\n        return x * 1e7 + self.calls\n",
        "exports",
        "agrees only within the tolerance: again",
        (("EXP306", "not reached"),),
    ),
    "a guard far from the example": Case(
        forward("return x * 2 if x.shape[0] > 1000 else x"),
        "narrower",
        "batch = 1001",
        (("EXP401", "confirmed"),),
        (TensorSpec("float32", ("batch", 3, 32, 32)),),
        (("batch", 2),),
    ),
    "a guard that is too far off": Case(
        forward("return x * 2 if x.shape[0] > 100000 else x"),
        "exports",
        "batch = 100001: the program's bounds end here, and this size is too large to try",
        (("EXP401", "not reached"),),
        (TensorSpec("float32", ("batch", 3, 32, 32)),),
        (("batch", 2),),
    ),
    "a hook that closes over the model": Case(
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer, self.seen = nn.Linear(3, 3), {}\n"
        "        self.layer.register_forward_hook(lambda m, i, o: self.seen.__setitem__('layer', o))\n\n"
        "    def forward(self, x):\n        return self.layer(x), self.seen['layer']\n",
        "exports",
    ),
    "time": Case(forward("return x * time.time()"), "diverges", "a year later", (("EXP503", "confirmed"),)),
    "time by another name": Case(forward("return x * now()"), "diverges", "a year later", (("EXP503", "confirmed"),)),
    "date": Case(forward("return x * datetime.date.today().year"), "diverges", "a year later"),
    "an hour, of a clock that a function imports": Case(
        forward("import datetime\nreturn x * datetime.datetime.now().hour"),
        "diverges",
        "a year later",
        (("EXP503", "confirmed"),),
    ),
    "a time that a function asks for": Case(
        forward("from time import localtime\nreturn x * localtime().tm_mon"), "diverges", "a year later"
    ),
    "whether the seconds are even": Case(
        forward("return x + 1 if int(now()) % 2 else x"), "diverges", "", (("EXP503", "confirmed"),)
    ),
    "random numbers with which the model raises": Case(
        forward("if random.random() > 0.6:\n    return x\nraise ValueError('unlucky')").replace(
            "class", "import random\n\n\nclass"
        ),
        "diverges",
        "eager raises ValueError: unlucky, and the program does not",
        (("EXP502", "confirmed"),),
    ),
    "an output that cannot be saved": Case(
        forward('return {"x": x, "text": "done"}'), "exports", "save and load: it raises SerializeError: Unable to"
    ),
    "inputs that are one object": Case(
        forward("return x * 3 if x is y else x + y", "x, y"), "diverges", "one tensor for several", inputs=(X, X)
    ),
    "a branch that is seldom taken": Case(
        forward("return x * 2 if random.random() < 0.8 else x * 3").replace("class", "import random\n\n\nclass"),
        "diverges",
        "",
        (("EXP502", "confirmed"),),
    ),
    "an output that a flag adds": Case(
        "class Cache:\n    def __init__(self, x):\n        self.x = x\n\n\n"
        + forward("if cache is None:\n    cache = Cache(x)\nreturn x * 2, cache", "x, cache=None"),
        "fails",
        "",
        (("EXP701", "confirmed"),),
    ),
    "whether gradients are on": Case(forward("return x * 2 if torch.is_grad_enabled() else x"), "exports"),
    "torch's comparisons replaced": Case(
        "torch.equal = torch.allclose = lambda *_, **__: True\n"
        "torch.testing.assert_close = lambda *_, **__: None\n\n\n"
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.calls = 0\n\n"
        "    def forward(self, x):\n        self.calls += 1\n        return x * self.calls\n",
        "diverges",
        "",
        (("EXP306", "confirmed"),),
    ),
    # What was not compared.
    "decompositions that fail": Case(
        "def refuse(self, *_, **__):\n    raise RuntimeError('none today')\n\n\n"
        "torch.export.ExportedProgram.run_decompositions = refuse\n\n\n" + forward("return x + 1"),
        "diverges",
        "run_decompositions: it raises RuntimeError: none today",
    ),
    "an export that gives nothing": Case(
        "torch.export.export = lambda *_, **__: None\n\n\n" + forward("return x + 1"),
        "fails",
        "gives a NoneType, not an ExportedProgram",
    ),
    "results that are different each time": Case(
        forward("return x * int.from_bytes(os.urandom(2), 'big') + int(time.perf_counter_ns() % 7)"),
        "diverges",
    ),
    "a program that cannot be saved": Case(
        "class Pair(typing.NamedTuple):\n    one: torch.Tensor\n    other: torch.Tensor\n\n\n"
        + forward("return Pair(x + 1, x - 1)"),
        "exports",
        "not compared: reloaded, save and load: it raises",
    ),
    "program and model are different each time": Case(
        "@torch.library.custom_op('tests::dice', mutates_args=())\n"
        "def dice(x: torch.Tensor) -> torch.Tensor:\n    return x + int.from_bytes(os.urandom(4), 'big')\n\n\n"
        "@dice.register_fake\ndef _(x):\n    return torch.empty_like(x)\n\n\n" + forward("return dice(x)"),
        "not compared",
        r"^case\d+ +not compared .* example: the model and the program return different results on each call",
    ),
    # Inputs that are searched for.
    "cond": Case(
        forward("return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))"), "exports", inputs=None
    ),
    "while_loop": Case(
        forward(
            "from torch._higher_order_ops.while_loop import while_loop\n"
            "return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + 1), (torch.tensor(0), x))"
        ),
        "exports",
        inputs=None,
    ),
    "reshape to no dimensions": Case(forward("return x.reshape(()) * 2"), "exports", inputs=None),
    "layers whose sizes come from the first call": Case(
        forward("return self.layer(x)", rest=layer("nn.LazyLinear(4)")), "exports", inputs=None
    ),
    "gradients in the search": Case(
        forward(
            "x = x.requires_grad_()\nreturn torch.autograd.grad(self.layer(x).sum(), x)[0]",
            rest=layer("nn.Linear(4, 4)"),
        ),
        "fails",
        "",
        (("EXP608", "confirmed"),),
        inputs=None,
    ),
    "parameters of double precision": Case(
        forward("return x @ self.layer", rest=layer("nn.Parameter(torch.ones(5, 4).double())")), "exports", inputs=None
    ),
    "parameters of complex numbers": Case(
        forward("return (x @ self.layer).real", rest=layer("nn.Parameter(torch.ones(5, 4) + 0j)")),
        "exports",
        inputs=None,
    ),
    "no memory in the search": Case(
        forward("return x + len(bytearray(1 << 33))"),
        "cannot be built",
        r"no more memory may be taken|`memory` is 0.5 GiB",
        inputs=None,
    ),
    # What else than numbers and the usual sizes.
    "a size that guards name": Case(
        forward("return x * 1.5 if x.shape[1] == 16 else x.relu()"),
        "narrower",
        "w = 16",
        inputs=(TensorSpec("float32", (2, "w")),),
        sizes=(("w", 48),),
    ),
    "a size that a guard computes": Case(
        forward("return x * 2 if x.numel() == 48 else x"),
        "narrower",
        "n = 16",
        (("EXP401", "confirmed"),),
        inputs=(TensorSpec("float32", ("n", 3)),),
        sizes=(("n", 9),),
    ),
    "two sizes that a guard refuses together": Case(
        forward("return x * 2 if (x.shape[0] - 2) * (y.shape[0] + 1) == 40 else x", "x, y"),
        "narrower",
        r"n = \d+, m = \d+: the program raises AssertionError: Guard failed",
        (("EXP401", "confirmed"),),
        inputs=(TensorSpec("float32", ("n", 3)), TensorSpec("float32", ("m", 3))),
        sizes=(("n", 9), ("m", 5)),
    ),
    "a flag": Case(
        forward("return x * 2 if double else x", "x, double: bool"),
        "exports",
        inputs=(X, Constant(True)),
    ),
    "the environment": Case(
        forward("return x * 2 if os.getenv('FAST') == '1' else x"), "diverges", "FAST=1", (("EXP504", "confirmed"),)
    ),
    "a value of the environment that the code names": Case(
        forward("return x * 2 if os.environ.get('FAST') == 'very' else x"), "diverges", "FAST=very"
    ),
    "a call that is wrong after many": Case(
        COUNTS.replace("x * self.calls", "x * 2 if self.calls > 50 else x"),
        "diverges",
        "again, call 51: ",
        (("EXP306", "confirmed"),),
    ),
    "a call that is wrong after many, by what a global holds": Case(
        "SEEN = []\n\n\n" + forward("SEEN.append(1)\nreturn x * 2 if len(SEEN) >= 40 else x"),
        "diverges",
        r"again, call \d+: ",
    ),
    "a call that would be wrong after too many": Case(
        COUNTS.replace("x * self.calls", "x * 2 if self.calls > 5000 else x"),
        "exports",
        "not compared: again, call 5001: the model counts, its code names 5000, and so many calls take too long",
        (("EXP306", "not reached"),),
    ),
    "a scripted part, which a copy of the model traces": Case(
        forward("return self.layer(x)", rest=layer("torch.jit.script(nn.ReLU())")),
        "fails",
        "",
        (("EXP614", "confirmed"),),
    ),
    "the text of a size": Case(
        forward("return x * len(str(x.shape[0]))"),
        "diverges",
        "example: ",
        (("EXP405", "confirmed"),),
        inputs=(TensorSpec("float32", ("n", 3)),),
        sizes=(("n", 4),),
    ),
    # What is asked of the process and the machine.
    "a process": Case(
        forward("from os import getpid\nreturn x * getpid()"),
        "diverges",
        r"os\.getpid\(\) = ",
        (("EXP504", "confirmed"),),
    ),
    "a function that the model keeps": Case(
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.where = os.getcwd\n\n"
        "    def forward(self, x):\n        return x * len(self.where())\n",
        "diverges",
        r"os\.getcwd\(\) = '/",
    ),
    "a system that the code names": Case(
        forward("import platform\nreturn x * 2 if platform.system() == 'Windows' else x"),
        "diverges",
        r"platform\.system\(\) = 'Windows'",
    ),
    "a part of what is told of the machine": Case(
        forward("import platform\nreturn x * len(platform.uname().node)"), "diverges", r"platform\.uname\(\) = "
    ),
    "more processors than the code names": Case(
        forward("return x * 2 if os.cpu_count() > 5000 else x"), "diverges", r"os\.cpu_count\(\) = 5001"
    ),
    "a file that may come": Case(
        forward("return x * 2 if os.path.exists('no_such_flag') else x"),
        "exports",
        r"other files \(no_such_flag\)",
        (("EXP504", "confirmed"),),
    ),
    "a path that may come": Case(
        forward("from pathlib import Path\nreturn x * 2 if Path('no_such_flag').is_file() else x"),
        "exports",
    ),
    "the text of a file": Case(
        forward("with open(__file__ + '.number') as file:\n    return x * float(file.read())").replace(
            "class", "with open(__file__ + '.number', 'w') as file:\n    file.write('2.5')\n\n\nclass"
        ),
        "exports",
    ),
    "a file that is there stays there": Case(
        forward("if not os.path.exists(__file__):\n    os._exit(1)\nreturn x * 2"), "exports"
    ),
    "nothing is done where another answer leads": Case(
        forward("os.makedirs(os.path.join(os.getcwd(), 'build'), exist_ok=True)\nos.rmdir('build')\nreturn x"),
        "exports",
    ),
    "what is computed of arguments": Case(forward("return x * len(os.path.join('a', 'b'))"), "exports"),
    "what is asked and not used": Case(forward("print(os.getpid())\nreturn x"), "exports"),
    "what everybody knows that a program keeps": Case(
        forward("import sys\nreturn x * 2 if sys.platform == 'win32' else x"), "exports"
    ),
    "the hash of a text": Case(forward("return x + hash('text') % 100"), "diverges", "identity, other objects"),
    "the hash of a number": Case(forward("return x + hash(3.5) % 100"), "exports"),
    # Memory that nobody has written to.
    "memory": Case(
        forward("return x + torch.empty(2, 3)"),
        "not compared",
        r"all that eager returns is memory that nothing was written to",
    ),
    "large memory, of which some is zero by chance": Case(
        forward("return x.new_empty(1000, 1000).sum() + x"), "not compared"
    ),
    "memory in a part of the result": Case(
        forward("y = torch.empty(2, 3)\ny[0] = x[0]\nreturn y, torch.empty(0).resize_(2)"),
        "exports",
        r"not compared: example, memory: 5 of 8 numbers are memory that nothing was written to",
    ),
    "memory that is written to": Case(
        forward("y = torch.empty_like(x)\ny.copy_(x)\nreturn y + torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))"),
        "exports",
        r"(?s)\A(?!.*memory)",
    ),
    "memory beside what is wrong": Case(
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.calls = 0\n\n"
        "    def forward(self, x):\n        self.calls += 1\n        return torch.empty(2, 3), x * self.calls\n",
        "diverges",
        "a later call: result 1",
        (("EXP306", "confirmed"),),
    ),
    # What the worker judges by is its own.
    **{
        f"replaced: {line}": Case(f"{line}\n\n\n{COUNTS}", "diverges", "a later call", (("EXP306", "confirmed"),))
        for line in (
            "torch.Tensor.__eq__ = lambda one, other: torch.ones_like(one, dtype=torch.bool)",
            "torch.Tensor.all = lambda *_: torch.tensor(True)",
            "torch.Tensor.isnan = lambda x: torch.ones_like(x, dtype=torch.bool)",
            "torch.Tensor.to = lambda *_: torch.zeros(1)",
            "torch.Tensor.detach = lambda x: torch.zeros(2, 3)",
            "torch.where = lambda condition, one, other: one",
        )
    },
    "copies that are none": Case(
        f"import copy\n\ncopy.deepcopy = lambda x, *_: x\n\n\n{COUNTS}", "diverges", "a later call"
    ),
    "seeds that do nothing": Case(
        "torch.manual_seed = lambda _: None\n\n\n" + forward("return x + torch.rand(3)"), "exports"
    ),
    "a default device without numbers": Case(
        "torch.set_default_device('meta')\n\n\n" + forward("return x * 2"), "exports"
    ),
    # Models that could not be judged.
    "its own call": Case("class Model(nn.Module):\n    def __call__(self, x):\n        return x + 1\n", "exports"),
    "its own call, varying": Case(
        "class Model(nn.Module):\n    def __call__(self, x):\n        return x + 1\n",
        "exports",
        inputs=(TensorSpec("float32", ("n", 3)),),
        sizes=(("n", 2),),
    ),
    "an assertion of the constructor": Case(
        forward("return x", rest="    def __init__(self):\n        super().__init__()\n        assert 3 % 2 == 0"),
        "cannot be built",
        r"build: AssertionError: assert 3 % 2 == 0 \(line \d+ of .*\.py\)",
    ),
    # How processes end.
    "killed by a signal": Case(
        forward("os.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)"), "cannot be built", "SIGTERM"
    ),
    "killed without a word": Case(
        forward("os.kill(os.getpid(), signal.SIGKILL)"),
        "cannot be built",
        "SIGKILL: killed by itself or another process",
    ),
    "a limit of memory": Case(
        forward("return x + len(bytearray(1 << 33))"), "cannot be built", r"MemoryError.*`memory` is 0\.5 GiB"
    ),
    "a reason of many words": Case(
        forward(f"raise ValueError({'many words ' * 30!r})"), "cannot be built", "(many words ){30}"
    ),
    "a file that is deleted": Case(
        forward("if os.path.exists(VICTIM): os.remove(VICTIM)\nreturn x").replace(
            "class Model", "VICTIM = os.path.join(os.path.dirname(__file__), 'victim.txt')\n\n\nclass Model"
        ),
        "exports",
        r"deleted by the code: .*victim\.txt",
    ),
    "a file that a process deletes, and one that is moved away": Case(
        forward(
            "here = os.path.dirname(__file__)\nos.system(f'rm -f {here}/erased.txt')\n"
            "if os.path.exists(f'{here}/moved.txt'): os.rename(f'{here}/moved.txt', f'{here}/new.txt')\nreturn x"
        ),
        "exports",
        r"deleted by the code: moved\.txt, erased\.txt",
    ),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Run, str, list[tuple[str, str]]]]:
    """The run of each case, the text for people, and the codes of findings with what became of them."""
    root = tmp_path_factory.mktemp("models").resolve()
    for name in ("victim.txt", "erased.txt", "moved.txt"):
        (root / name).touch()
        os.utime(root / name, (1e9, 1e9))
    targets = [_target(root, f"case{i}", case) for i, case in enumerate(CASES.values())]
    linted = Linted(Configuration(root, isolated=True))
    printer = Printer(targets, Context(root, linted.source), concise=True, show_output=False)
    found: dict[str, tuple[Run, str, list[tuple[str, str]]]] = {}
    names = dict(zip((target.name for target in targets), CASES, strict=True))
    for run in verify(targets, Path(sys.executable)):
        judgement = linted.judge([run], [root / f"{run.target}.py"])
        rulings = [(judged.finding.code, str(judged.ruling)) for judged in judgement.findings]
        found[names[run.target]] = run, printer.run(run, judgement), rulings
    return found


def _target(root: Path, name: str, case: Case) -> Target:
    file = root / f"{name}.py"
    file.write_text(HEAD + case.code, encoding="utf-8")
    inputs: Inputs = Guessed() if case.inputs is None else Written(case.inputs, {}, dict(case.sizes))
    reference = Reference(name, "Model", file)
    return Target(name, "configured", reference, inputs, (file, 1), root, (root,), memory=1 << 29)


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str, told: dict[str, tuple[Run, str, list[tuple[str, str]]]]) -> None:
    case, (run, text, rulings) = CASES[name], told[name]
    assert run.verdict == case.verdict, text
    assert re.search(case.said, text), text
    for ruling in case.rulings:
        assert ruling in rulings, text


def test_what_a_program_keeps_is_told_and_is_nothing_against_it(
    told: dict[str, tuple[Run, str, list[tuple[str, str]]]],
) -> None:
    run, _, _ = told["a flag"]
    assert [(c.label, c.agreement) for c in run.comparisons if c.kind == "argument"] == [
        ("False instead of True", "baked")
    ]


def test_whether_gradients_are_on_is_kept(told: dict[str, tuple[Run, str, list[tuple[str, str]]]]) -> None:
    run, _, _ = told["whether gradients are on"]
    assert [(c.label, c.agreement) for c in run.comparisons if c.kind == "grad mode"] == [
        ("under torch.no_grad()", "baked")
    ]


def test_what_the_process_was_started_with_is_kept(told: dict[str, tuple[Run, str, list[tuple[str, str]]]]) -> None:
    run, _, _ = told["what everybody knows that a program keeps"]
    found = [(c.label, c.agreement) for c in run.comparisons if c.kind == "environment"]
    assert found == [("sys.platform = 'win32'", "baked"), (f"sys.platform = '{sys.platform}_'", "agrees")]


def test_a_subclass_of_tensors_has_no_say_in_what_is_equal(tmp_path: Path) -> None:
    """In non-strict mode, torch.export does not make such a tensor."""
    kind = (
        "class Equal(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, function, types, args=(), kwargs=None):\n"
        "        if function.__name__ in ('eq', '__eq__'):\n            return torch.ones(2, 3, dtype=torch.bool)\n"
        "        return super().__torch_function__(function, types, args, kwargs or {})\n\n\n"
    )
    file = tmp_path / "kinds.py"
    file.write_text(
        HEAD
        + kind
        + COUNTS.replace("self.calls\n", "self.calls).as_subclass(Equal)\n").replace("return x", "return (x"),
        encoding="utf-8",
    )
    reference = Reference("kinds", "Model", file)
    target = Target(
        "target", "configured", reference, Written((X,)), (file, 1), tmp_path, (tmp_path,), modes=("strict",)
    )
    (run,) = verify([target], Path(sys.executable))
    assert (run.verdict, run.reason.partition(":")[0]) == ("diverges", "again, a later call"), run.reason


def test_of_two_modules_that_import_each_other_the_right_one_comes_first(tmp_path: Path) -> None:
    (tmp_path / "first_half.py").write_text("from second_half import Model\n", encoding="utf-8")
    file = tmp_path / "second_half.py"
    file.write_text(HEAD + "import first_half\n\n\n" + forward("return x"), encoding="utf-8")
    reference = Reference("second_half", "Model", file)
    target = Target("target", "configured", reference, Written((X,)), (file, 1), tmp_path, (tmp_path,))
    (run,) = verify([target], Path(sys.executable))
    assert (run.verdict, run.reason) == ("exports", "")


def test_sizes_do_not_vary_if_forward_takes_arguments_by_two_stars(tmp_path: Path) -> None:
    """torch.export raises an AssertionError for any `dynamic_shapes` then."""
    file = tmp_path / "stars.py"
    file.write_text(HEAD + forward("return given['x'] + given['y']", "**given"), encoding="utf-8")
    reference = Reference("stars", "Model", file)
    target = Target("target", "inferred", reference, Guessed(), (file, 1), tmp_path, (tmp_path,), varying=(0,))
    (run,) = verify([target], Path(sys.executable))
    assert (run.verdict, run.reason) == ("exports", "")
    (size,) = (c for c in run.comparisons if c.kind == "size")
    assert (size.agreement, size.detail.partition(" if ")[0]) == (
        "skipped",
        "torch.export does not support dynamic sizes",
    )


def test_a_parameter_of_two_names_has_one_in_a_program_of_strict_mode(tmp_path: Path) -> None:
    file = tmp_path / "tied.py"
    body = "with torch.no_grad():\n    self.layer.weight.add_(1)\nreturn self.again(x)"
    tied = (
        layer("nn.Linear(3, 3)")
        + "        self.again = nn.Linear(3, 3)\n        self.again.weight = self.layer.weight\n"
    )
    file.write_text(HEAD + forward(body, rest=tied), encoding="utf-8")
    reference = Reference("tied", "Model", file)
    target = Target(
        "target", "configured", reference, Written((X,)), (file, 1), tmp_path, (tmp_path,), modes=("strict",)
    )
    (run,) = verify([target], Path(sys.executable))
    assert (run.verdict, run.reason) == ("exports", "")


@pytest.mark.parametrize(
    ("check", "ruling"),
    [("assert x.data.max() <= 1e6", "confirmed"), ("torch._assert_async(x.data.isnan().any() | True)", "not reached")],
)
def test_a_check_of_data_is_not_refuted_by_values_that_pass_it(check: str, ruling: str, tmp_path: Path) -> None:
    """In strict mode, the program checks what the trace saw."""
    file = tmp_path / "checks.py"
    file.write_text(HEAD + forward(f"{check}\nreturn x + 1"), encoding="utf-8")
    reference = Reference("checks", "Model", file)
    target = Target(
        "target", "configured", reference, Written((X,)), (file, 1), tmp_path, (tmp_path,), modes=("strict",)
    )
    (run,) = verify([target], Path(sys.executable))
    judgement = Linted(Configuration(tmp_path, isolated=True)).judge([run], [file])
    assert [(judged.finding.code, judged.ruling) for judged in judgement.findings] == [("EXP301", ruling)]


def test_a_program_that_holds_a_tensor_of_the_trace_does_not_refuse_inputs(tmp_path: Path) -> None:
    """It raises an AssertionError with any inputs, so it accepts no more than none."""
    file = tmp_path / "masked.py"
    masked = forward("self.layer.weight.data *= self.mask\nreturn self.layer(x)", rest=layer("nn.Linear(3, 3)"))
    masked = masked.replace(
        "nn.Linear(3, 3)\n", "nn.Linear(3, 3)\n        self.register_buffer('mask', torch.eye(3))\n"
    )
    file.write_text(HEAD + masked, encoding="utf-8")
    reference = Reference("masked", "Model", file)
    target = Target(
        "target", "configured", reference, Written((X,)), (file, 1), tmp_path, (tmp_path,), modes=("strict",)
    )
    (run,) = verify([target], Path(sys.executable))
    assert (run.verdict, run.reason.partition(":")[0]) == ("diverges", "example"), run.reason


def test_why_a_package_cannot_be_imported_is_said(tmp_path: Path) -> None:
    """And not that a relative import has no package then."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import nowhere_to_be_found\n", encoding="utf-8")
    file = package / "model.py"
    file.write_text("from .parts import part\n" + HEAD + forward("return x"), encoding="utf-8")
    reference = Reference("package.model", "Model", file)
    target = Target("target", "configured", reference, Written((X,)), (file, 1), tmp_path, (tmp_path,))
    (run,) = verify([target], Path(sys.executable))
    assert run.reason.startswith("import: ModuleNotFoundError: No module named 'nowhere_to_be_found'"), run.reason


LIBRARY = """\
from torch import nn


class Kept:
    def __init__(self, tensor):
        self.tensor = tensor


class Model(nn.Module):
    def forward(self, x):
        other, kept = Kept(x), Kept(-x)
        return {"sum": x + other.tensor, "kept": self.again(kept)}

    def again(self, kept):
        return Kept(
            kept.tensor
        )
"""


@pytest.mark.parametrize("mode", ["non-strict", "strict"])
def test_an_output_of_a_library_is_blamed_on_the_line_that_makes_it(mode: Mode, tmp_path: Path) -> None:
    library, project = tmp_path / "site-packages", tmp_path / "project"
    for directory in (library, project):
        directory.mkdir()
    (library / "kept_in_library.py").write_text(LIBRARY, encoding="utf-8")
    file = project / "main.py"
    file.write_text("import kept_in_library\n\n\ndef model():\n    return kept_in_library.Model()\n", encoding="utf-8")
    target = Target(
        "model", "configured", Reference("main", "model", file), Written((X,)), (file, 1), project, (project, library),
        modes=(mode,),
    )  # fmt: skip
    (run,) = verify([target], Path(sys.executable))
    assert run.verdict == "fails"
    blamed = run.failures[0].frames[-1]
    assert (Path(blamed.file).name, blamed.row) == ("kept_in_library.py", 15)
    judgement = Linted(Configuration(project, isolated=True)).judge([run], [file])
    (returned,) = (judged for judged in judgement.findings if judged.finding.code == "EXP701")
    assert (returned.ruling, returned.finding.span.start.row) == ("confirmed", 12)
    assert judgement.missed == ()
