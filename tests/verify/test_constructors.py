"""Arguments of constructors that nobody gives: sizes by name, and configurations in code and in files of data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.runner import write
from tests.forking import python
from tests.patience import PATIENCE
from tests.sampling import one_in

HEAD = "import torch\nfrom torch import nn\n\n\n"


def net(parameters: str, layer: str) -> str:
    """A model whose layer shows what its constructor was called with."""
    return (
        f"class Net(nn.Module):\n    def __init__(self, {parameters}):\n        super().__init__()\n"
        f"        self.layer = {layer}\n\n    def forward(self, x):\n        return self.layer(x)\n"
    )


READS_WIDTH = net("config", "nn.Linear(config.width, config.inner)")
DATACLASS = "from dataclasses import dataclass, field\n\n\n@dataclass\nclass Sizes:\n"
PARSER = (
    "import argparse\n\n\ndef options():\n    parser = argparse.ArgumentParser()\n"
    '    parser.add_argument("-w", "--width", type=int, default=9)\n'
    '    parser.add_argument("--narrow", dest="inner", type=int, default=4)\n'
)
ADDS = '    def add(self, parser):\n        parser.add_argument("--width", type=int, default=9)\n'
ADDS += '        parser.add_argument("--inner", type=int, default=4)\n        return parser\n\n'


class Case(NamedTuple):
    """Files beside `net.py`, the model in it, and the sizes of its input; without, what its constructor needs."""

    code: str
    files: dict[str, str | bytes]
    sizes: tuple[int | str, ...] | None
    needs: str = ""


CASES = {
    "sizes by name": Case(
        net("in_channels, num_classes, kernel_size, *, bias", "nn.Conv2d(in_channels, num_classes, kernel_size)"),
        {},
        ("batch", 64, "any", "any"),
    ),
    "the last word of a name tells": Case(
        net("hidden_layers_dim", "nn.Linear(hidden_layers_dim, 2)"), {}, ("batch", 64)
    ),
    "a plural": Case(net("num_embeddings", "nn.Linear(num_embeddings, 2)"), {}, ("batch", 64)),
    "a name that says nothing, of what sizes a layer": Case(
        net("recipe, n, k", "nn.Conv1d(int(recipe), n, kernel_size=k)"), {}, ("batch", 64, "any")
    ),
    "a name that says nothing, of the size of a tensor": Case(
        net("n", "nn.Linear(torch.ones(n).numel(), 2)"), {}, ("batch", 8)
    ),
    "a constructor of torch's": Case(
        "class Net(nn.GroupNorm):\n    def forward(self, x):\n        return super().forward(x).relu()\n",
        {},
        ("batch", 64, "any"),
    ),
    "a name that says nothing, of what is calculated with": Case(
        net("recipe", "nn.Linear(recipe * 2, 2)"), {}, ("batch", 16)
    ),
    "a list that is gone through": Case(
        net("dims", "nn.Sequential(*(nn.Linear(n, n) for n in dims))"), {}, ("batch", 64)
    ),
    "a list by its last item": Case(net("depths", "nn.Linear(depths[0] * 3, depths[2])"), {}, ("batch", 6)),
    "what is added to four times its width": Case(
        net("inplanes, planes", "nn.Sequential(nn.Linear(inplanes, planes), nn.Linear(planes, planes * 4))").replace(
            "return self.layer(x)", "return self.layer(x) + x"
        ),
        {},
        ("batch", 256),
    ),
    "a list by its type": Case(net("hidden: list[int]", "nn.Linear(len(hidden), 2)"), {}, ("batch", 2)),
    "what a file of data gives a class that it names": Case(
        net("width, *, recipe=3", "nn.Linear(width, recipe)"),
        {"configs/a.yaml": "model:\n  name: Net\n  width: 12  # wide\n  recipe: 2\nname: run\n"},
        ("batch", 12),
    ),
    "what a file of data gives two arguments": Case(
        net("width, inner", "nn.Linear(width, inner)"),
        {"a.json": '{"train": {"lr": 0.1}, "model": {"width": 7, "inner": 2}}'},
        ("batch", 7),
    ),
    "one argument in a file of data that names another class": Case(
        net("features", "nn.Linear(features, 2)"), {"a.json": '{"name": "Other", "features": 7}'}, ("batch", 64)
    ),
    "an item of a list in a file of data": Case(
        net("width, inner", "nn.Linear(width, inner)"), {"a.yaml": "- width: 7\n  inner: 2\n"}, ("batch", 64)
    ),
    "a name that says nothing": Case(net("recipe", "nn.Linear(3, 2)"), {}, None, "`recipe`"),
    "a name that another type contradicts": Case(net("dim: str", "nn.Linear(3, 2)"), {}, None, "`dim`"),
    "one name of several says nothing": Case(net("dim, recipe", "nn.Linear(dim, 2)"), {}, None, "`dim`, `recipe`"),
    "a dataclass beside it": Case(
        f"{DATACLASS}    width: int = 6\n    inner: int = 3\n\n\n{READS_WIDTH}", {}, ("batch", 6)
    ),
    "a dataclass with a factory": Case(
        f"{DATACLASS}    width: int = field(default_factory=lambda: 7)\n    inner: int = 3\n\n\n{READS_WIDTH}",
        {},
        ("batch", 7),
    ),
    "a dataclass that needs something": Case(
        f"{DATACLASS}    width: int\n    inner: int = 3\n\n\n{READS_WIDTH}", {}, None, "`config`"
    ),
    "a dataclass without what is read": Case(f"{DATACLASS}    width: int = 6\n\n\n{READS_WIDTH}", {}, None, "`config`"),
    "a dataclass without what only a condition reads": Case(
        f"{DATACLASS}    width: int = 6\n    inner: int = 3\n    task: str = ''\n\n\n"
        + READS_WIDTH.replace(
            "        self.layer",
            "        if config.task == 'classes':\n            self.head = config.classes\n        self.layer",
        ),
        {},
        ("batch", 6),
    ),
    "a dataclass without what a condition asks": Case(
        f"{DATACLASS}    width: int = 6\n\n\n"
        + net("config", "nn.Linear(config.width if config.is_wide else config.inner, 3)").replace(
            "config.is_wide", "(config.is_wide or config.inner)"
        ),
        {},
        None,
        "`config`",
    ),
    "the one with more of what is read, of two": Case(
        f"{DATACLASS}    inner: int = 3\n    width: int = 6\n\n\n"
        + READS_WIDTH.replace(
            "        self.layer",
            "        if config.inner > 5:\n            self.head = config.classes\n        self.layer",
        ),
        {"a.py": f"{DATACLASS}    width: int = 8\n    inner: int = 3\n    classes: int = 4\n"},
        ("batch", 8),
    ),
    "the one beside it, of two": Case(
        f"{DATACLASS}    width: int = 6\n    inner: int = 3\n\n\n{READS_WIDTH}",
        {"a.py": f"{DATACLASS}    width: int = 8\n    inner: int = 3\n"},
        ("batch", 6),
    ),
    "a class of another file": Case(
        READS_WIDTH,
        {"conf/sizes.py": "class Sizes:\n    def __init__(self, w=5):\n        self.width, self.inner = w, 2\n"},
        ("batch", 5),
    ),
    "an annotation instead of a telling name": Case(
        net("recipe: 'Sizes'", "nn.Linear(recipe.width, 2)"), {"s.py": "class Sizes:\n    width = 4\n"}, ("batch", 4)
    ),
    "a parser of a command line": Case(READS_WIDTH, {"main.py": f"{PARSER}    return parser\n"}, ("batch", 9)),
    "parsed options": Case(READS_WIDTH, {"main.py": f"{PARSER}    return parser.parse_args()\n"}, ("batch", 9)),
    "options that a program parses": Case(
        READS_WIDTH,
        {
            "main.py": (
                "import argparse\n\nfrom nowhere import train\n\n\n"
                "def main():\n    parser = argparse.ArgumentParser()\n"
                "    parser.add_argument('--name', required=True, help='of the loader')\n"
                "    parser.add_argument('--width', type=int, default=9)\n    args = parser.parse_args()\n"
                "    if args.name is None:\n        args.inner, args.width = 4, 8\n        print('no name')\n"
                "    train(args)\n\n\nif __name__ == '__main__':\n    main()\n"
            )
        },
        ("batch", 8),
    ),
    "a class that parses options": Case(
        READS_WIDTH,
        {
            "main.py": (
                "import argparse\n\n\nclass Options:\n    def __init__(self):\n"
                f"        self.parser = argparse.ArgumentParser()\n        self.add(self.parser)\n\n{ADDS}"
                "    def parse(self):\n        self.opt = self.parser.parse_args()\n        self.opt.width = 7\n"
                "        return self.opt\n"
            )
        },
        ("batch", 7),
    ),
    "a class whose method does more than parse": Case(
        READS_WIDTH,
        {
            "main.py": (
                "import argparse\nimport os\n\n\nclass Options:\n    def __init__(self):\n"
                f"        self.parser = argparse.ArgumentParser()\n        self.add(self.parser)\n\n{ADDS}"
                "    def parse(self):\n        options = self.parser.parse_args()\n        self.log(options)\n"
                "        return options\n\n    def log(self, options):\n        os.makedirs(str(options.width))\n"
            )
        },
        ("batch", 9),
    ),
    "a class that inherits how it parses": Case(
        READS_WIDTH,
        {
            "main.py": (
                "from base import Base\n\n\nclass Options(Base):\n    def add(self, parser):\n"
                "        parser = super().add(parser)\n        parser.set_defaults(width=6)\n        return parser\n"
            ),
            "base.py": (
                f"import argparse\n\n\nclass Base:\n{ADDS}    def gather(self):\n"
                "        parser = self.add(argparse.ArgumentParser())\n        opt, _ = parser.parse_known_args()\n"
                "        open('log', 'w').write(str(opt))\n        return parser.parse_args()\n\n"
                "    def parse(self):\n        opt = self.gather()\n        return opt\n"
            ),
        },
        ("batch", 9),
    ),
    "options as they are parsed, before they depend on data": Case(
        READS_WIDTH,
        {
            "main.py": (
                f"{PARSER}    return parser\n\n\ndef main():\n    raise SystemExit\n\n\n"
                "args = options().parse_args()\nargs.width = len(open(args.name, 'w').name)\n"
            )
        },
        ("batch", 9),
    ),
    "a program that parses options is not run": Case(
        READS_WIDTH,
        {"main.py": f"{PARSER}    args, _ = parser.parse_known_args()\n    open(args.log, 'w').write('begun')\n"},
        ("batch", 9),
    ),
    "options in a module that is passed on": Case(
        net("c", "nn.Linear(c.width, c.inner)").replace("Net", "_Part") + "\n\n" + net("configs", "_Part(configs)"),
        {"main.py": f"{PARSER}    return parser.parse_args()\n"},
        ("batch", 9),
    ),
    "a list by what it is passed on to": Case(
        "class Part(nn.Module):\n    def __init__(self, widths):\n        super().__init__()\n"
        "        self.layers = nn.Sequential(*(nn.Linear(n, n) for n in widths))\n\n"
        "    def forward(self, x):\n        return self.layers(x)\n\n\n" + net("num_channels", "Part(num_channels)"),
        {},
        ("batch", 64),
    ),
    "modules": Case(net("layers", "nn.ModuleList(layers)"), {}, None, "`layers`"),
    "a module that is called": Case(net("block", "block"), {}, None, "`block`"),
    "a class that a method calls": Case(
        net("block", "self.made(block)") + "\n    def made(self, kind):\n        return kind(3, 4)\n",
        {},
        None,
        "`block`",
    ),
    "code before data": Case(
        READS_WIDTH,
        {"a.json": '{"width": 8, "inner": 3}', "sizes.py": "class Sizes:\n    width = 5\n    inner = 2\n"},
        ("batch", 5),
    ),
    "JSON": Case(
        net("hparams", "nn.Linear(hparams.width, hparams.inner.deep)"),
        {"conf/a.json": '{"width": 8, "inner": {"deep": 3}}'},
        ("batch", 8),
    ),
    "YAML": Case(
        net("cfg", "nn.Linear(cfg.width, cfg.inner.deep)"),
        {"conf/of/a.yaml": "width: 11\ninner:\n  deep: 3\nmade: 2024-01-01\n"},
        ("batch", 11),
    ),
    "what Hydra makes": Case(
        net("part, width", "nn.Sequential(part, nn.ReLU())"),
        {
            "a.yaml": (
                "_target_: net.Net\npart:\n  _target_: torch.nn.Linear\n  in_features: 6\n  out_features: 3\nwidth: 2\n"
            )
        },
        ("batch", 6),
    ),
    "data in Python": Case(
        net("cfg", "nn.Linear(cfg.width, cfg.inner.deep)"),
        {"configs/a/b/a.py": "import math\n\nside = 3\nwidth = 4 * math.ceil(side)\ninner = dict(deep=side)\n"},
        ("batch", 12),
    ),
    "data in Python that names the model": Case(
        net("width, inner, cfg=None, **more", "nn.Sequential(nn.Linear(width, inner), *cfg.parts[:more['count']])"),
        {"a.py": "parts = []\nhead = [{}, dict(type='Net', width=13, inner=3, count=0)]\n"},
        ("batch", 13),
    ),
    "a configuration that is None by default": Case(
        net("side=2, cfg=None", "nn.Linear(cfg.width, side)"),
        {"a.json": '{"width": 14}'},
        ("batch", 14),
    ),
    "Python that does more": Case(
        READS_WIDTH, {"a.py": "width = 4\ninner = dict(width=8, inner=open('a').read())\n"}, None, "`config`"
    ),
    "Python without end": Case(READS_WIDTH, {"a.py": "width = {\ninner ="}, None, "`config`"),
    "too deep a folder": Case(READS_WIDTH, {"a/b/c/a.json": '{"width": 8, "inner": 3}'}, None, "`config`"),
    "JSON that is none": Case(READS_WIDTH, {"a.json": '{"width": 8, "inner"'}, None, "`config`"),
    "JSON without end": Case(READS_WIDTH, {"a.json": "[" * 19_000}, None, "`config`"),
    "a list": Case(READS_WIDTH, {"a.json": '["width", "inner"]'}, None, "`config`"),
    "a large file": Case(READS_WIDTH, {"a.json": json.dumps({"width": 8, "inner": "1" * 20_000})}, None, "`config`"),
    "a file of another encoding": Case(READS_WIDTH, {"a.json": b'{"width": 8, "inner": "\xe4"}'}, None, "`config`"),
}


def project(root: Path, case: Case) -> None:
    texts = {name: text for name, text in case.files.items() if isinstance(text, str)}
    write(root, {"pyproject.toml": "", "net.py": HEAD + case.code, **texts})
    for name, data in case.files.items():
        if isinstance(data, bytes):
            (root / name).write_bytes(data)


def verify(root: Path, *argv: str) -> str:
    command = [*python(), "-m", "exportlint", "verify", *argv]
    environment = {**os.environ, "XDG_CACHE_HOME": str(root.parent / "cache")}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("name", one_in(4, CASES))
def test_the_list_says_what_is_made_and_what_lacks(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    project(tmp_path, case)
    listed = verify(tmp_path, "--list", "net.py::Net").splitlines()
    if case.sizes is None:
        assert listed[1].split(maxsplit=2)[2] == f"its constructor needs {case.needs}: give a target"
    else:
        assert listed[0].split()[0] == "net:Net"
        assert listed[0].split()[-1] == "inferred"


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.sizes is not None])
def test_what_is_made_runs(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    case = CASES[name]
    project(tmp_path, case)
    argv = ("--no-cache", "--python", sys.executable, "--output-format", "json", "net.py::Net")
    (run,) = json.loads(verify(tmp_path, *argv))["runs"]
    assert (run["verdict"], run["reason"]) == ("exports", "")
    (shown,) = run["inputs"]
    sizes = shown.partition("[")[2].rstrip("]").split(", ")
    assert len(sizes) == len(case.sizes or ())
    for size, wanted in zip(sizes, case.sizes or (), strict=True):
        assert wanted in ("any", "batch") or size == str(wanted), shown
