"""Models that a project keeps by name: each entry of a registry that the code may take is one to verify."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from exportlint.config import Configuration
from exportlint.verify.run import verify
from exportlint.verify.target import Target
from exportlint.verify.targets import find_targets
from tests.cli.runner import write
from tests.sampling import one_in

HEAD = "import torch\nfrom torch import nn\n"
NETS = """


{first}class First(nn.Module):
    def __init__(self, recipe):
        super().__init__()
        self.layer = nn.Linear(recipe["wide"], 2)

    def forward(self, x):
        return self.layer(x)


{second}class Second(First):
    pass
"""
PLAIN = HEAD + NETS.format(first="", second="")
BUILD = "\n\ndef build(name, **more):\n    return MODELS[name](**more)\n\n\n"
CALL = "build({name}, recipe={{'wide': 3}})(torch.rand(2, 3))\n"

CASES = {
    "a dictionary": (
        PLAIN + '\n\nMODELS = {"a": First, "b": Second}\n',
        "def run(name):\n    model = MODELS[name]({'wide': 3})\n    model(torch.rand(2, 3))\n",
    ),
    "a dictionary in the function": (
        PLAIN,
        "def run(name):\n    known = {'a': First, 'b': Second}\n    known[name]({'wide': 3})(torch.rand(2, 3))\n",
    ),
    "instances": (
        PLAIN,
        (
            "def run(name):\n    known = {'a': First({'wide': 3}), 'b': Second({'wide': 3})}\n"
            "    model = known[name]\n    model(torch.rand(2, 3))\n"
        ),
    ),
    "a class in a variable": (
        PLAIN + "\n\nMODELS = dict(a=First, b=Second)\n",
        "def run(name):\n    cls = MODELS.get(name)\n    model = cls({'wide': 3})\n    model(torch.rand(2, 3))\n",
    ),
    "functions": (
        PLAIN + '\n\nMODELS = {"a": lambda recipe: First(recipe), "b": functools.partial(Second, {"wide": 3})}\n',
        (
            "def run(name):\n    more = {'a': ({'wide': 3},), 'b': ()}[name]\n"
            "    MODELS[name](*more)(torch.rand(2, 3))\n"
        ),
    ),
    "a file": (
        PLAIN,
        (
            "import models as nets\n\nfor name in ('First', 'Second'):\n"
            "    getattr(nets, name)({'wide': 3})(torch.rand(2, 3))\n"
        ),
    ),
    "the names of a file": (
        PLAIN,
        (
            "import models as nets\n\n\ndef run(name='First'):\n"
            "    model = nets.__dict__[name]({'wide': 3})\n    model(torch.rand(2, 3))\n"
        ),
    ),
    "parameters of a test": (
        PLAIN,
        (
            "import models\nimport pytest\n\n\n@pytest.mark.parametrize('cls', [First, pytest.param(Second, id='b')])\n"
            "def test(cls):\n    cls({'wide': 3})(torch.rand(2, 3))\n"
        ),
    ),
    "parameters of a fixture": (
        PLAIN,
        (
            "import models\nimport pytest\n\n\n@pytest.fixture(params=['First', 'Second'])\n"
            "def net(request):\n    return getattr(models, request.param)({'wide': 3})\n\n\n"
            "def test(net):\n    net(torch.rand(2, 3))\n"
        ),
    ),
    "entries that are added": (
        PLAIN + '\n\nMODELS = {"a": First}\nMODELS["b"] = Second\n',
        "for name in MODELS:\n    MODELS[name]({'wide': 3})(torch.rand(2, 3))\n",
    ),
    "a function that looks into it": (
        PLAIN + '\n\nMODELS = {"a": First, "b": Second}\n' + BUILD,
        "for name in ('a', 'b'):\n    " + CALL.format(name="name"),
    ),
    "functions that return a class": (
        PLAIN + '\n\nMODELS = {"a": First, "b": Second}\n\n\ndef kind(name):\n    return MODELS[name]\n\n\n'
        "def second():\n    return Second\n",
        (
            "kind('a')({'wide': 3})(torch.rand(2, 3))\ncls = second()\n"
            "model = cls({'wide': 3})\nmodel(torch.rand(2, 3))\n"
        ),
    ),
    "options": (
        PLAIN + '\n\nMODELS = {"a": First, "b": Second}\n' + BUILD,
        (
            "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--name', required=True)\n"
            "args = parser.parse_args()\n" + CALL.format(name="args.name")
        ),
    ),
    "constants": (
        PLAIN + '\n\nMODELS = {"a": First, "b": Second}\n' + BUILD,
        CALL.format(name="'a'") + CALL.format(name="name='b'").replace("name='b', ", "'b', "),
    ),
    "a decorator": (
        HEAD
        + "\nMODELS = {}\n\n\ndef register(name):\n    def add(cls):\n        MODELS[name] = cls\n"
        + "        return cls\n\n"
        + "    return add\n"
        + NETS.format(first='@register("a")\n', second='@register("b")\n')
        + BUILD,
        "def run(name='a'):\n    " + CALL.format(name="name"),
    ),
    "a decorator of an object": (
        HEAD
        + "\n\nclass Registry(dict):\n    def register(self):\n        def add(cls):\n"
        + "            self[cls.__name__] = cls\n            return cls\n\n        return add\n\n\n"
        + "MODELS = Registry()\n"
        + NETS.format(first="@MODELS.register()\n", second="@MODELS.register()\n")
        + BUILD,
        "def run(name='First'):\n    " + CALL.format(name="name"),
    ),
}
"""A file with two models, and one that makes them by name."""


def found(root: Path, models: str, use: str) -> list[Target]:
    imports = "import functools\nimport torch\nfrom models import *\n\n\n"
    write(root, {"models.py": f"import functools\n{models}", "use.py": imports + use})
    return list(find_targets([], Configuration(root), root).targets)


@pytest.mark.parametrize("case", one_in(3, CASES))
def test_each_entry_is_run_as_it_is_made(case: str, tmp_path: Path) -> None:
    targets = found(tmp_path, *CASES[case])
    assert [(target.name, target.origin) for target in targets] == [
        ("models:First", "usage"),
        ("models:Second", "usage"),
    ]
    for target, run in zip(targets, verify(targets, Path(sys.executable)), strict=True):
        assert (run.verdict, run.reason) == ("exports", "")
        assert run.model is not None
        assert f"models:{run.model.name}" == target.name
        assert [text.partition(": ")[2] for text in run.inputs] == ["float32[x.shape[0]=2, 3]"]


OTHERS = {
    "another key": "def run():\n    MODELS['c']({'wide': 3})(torch.rand(2, 3))\n",
    "an unknown registry": "def run(name):\n    OTHERS[name]({'wide': 3})(torch.rand(2, 3))\n",
    "a key that a caller computes": (
        "def build(recipe):\n    return MODELS[recipe['name']](recipe)\n\n\nbuild({'name': 'a'})(torch.rand(2, 3))\n"
    ),
}


@pytest.mark.parametrize("case", one_in(2, OTHERS))
def test_other_keys_make_nothing_of_it(case: str, tmp_path: Path) -> None:
    targets = found(tmp_path, PLAIN + '\n\nMODELS = {"a": First, "b": Second}\n', OTHERS[case])
    assert not [target for target in targets if getattr(target.inputs, "inputs", None)]
