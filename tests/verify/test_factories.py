"""Models that methods make, that objects hold, and that lie in a folder of their own: from the list to a real run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from exportlint.config import Configuration
from exportlint.verify.run import verify
from exportlint.verify.targets import find_targets
from tests.cli.runner import write

pytestmark = pytest.mark.thorough

HEAD = "import torch\nfrom torch import nn\n\n\n"
NET = f"""\
{HEAD}class Net(nn.Module):
    def __init__(self, recipe):
        super().__init__()
        self.layer = nn.Linear(recipe["wide"], 2)

    @classmethod
    def of(cls, recipe):
        return cls(recipe)

    def forward(self, x):
        return self.layer(x)
"""
MAKERS = """\
from net import Net


class Base:
    def __init__(self, recipe):
        self.recipe = recipe
        self.net = self.build().eval()

    def build(self):
        raise NotImplementedError


class Runner(Base):
    def build(self):
        return Net(self.recipe)

    @property
    def model(self):
        return self.net


class Maker:
    @staticmethod
    def plain(recipe):
        net = Net(recipe)
        return net

    @classmethod
    def again(cls, recipe):
        return cls.plain(recipe)
"""
USES = {
    "a method of an object": "Runner({'wide': 6}).build()(torch.rand(2, 6))",
    "an attribute that a base class sets": "runner = Runner({'wide': 6})\n    runner.net(torch.rand(2, 6))",
    "a property": "Runner({'wide': 6}).model(torch.rand(2, 6))",
    "an object that is not called": "runner = Runner({'wide': 6})",
    "a static method": "net = Maker.plain({'wide': 6})\n    net.cuda()(torch.rand(2, 6))",
    "a class method": "Maker.again({'wide': 6})(torch.rand(2, 6))",
    "a class method of the model": "Net.of({'wide': 6})(torch.rand(2, 6))",
    "a method of what a variable holds": "make = Runner({'wide': 6}).build\n    make()(torch.rand(2, 6))",
}


@pytest.mark.parametrize("use", USES)
def test_what_a_method_makes_is_found(use: str, tmp_path: Path) -> None:
    script = f"{HEAD}from makers import Maker, Runner\nfrom net import Net\n\n\ndef main():\n    {USES[use]}\n"
    write(tmp_path, {"net.py": NET, "makers.py": MAKERS, "use.py": script})
    found = find_targets([], Configuration(tmp_path), tmp_path)
    assert [(target.name, target.origin) for target in found.targets] == [("net:Net", "usage")]
    (run,) = verify(found.targets, Path(sys.executable))
    assert (run.verdict, run.reason) == ("exports", "")
    assert [text.partition("[")[0] + text.rpartition(",")[2] for text in run.inputs] == ["x: float32 6]"]


LAYERS = {
    "below the folder of a script": {
        "code/layers/ops.py": "WIDE = 5\n",
        "code/models/net.py": "from layers.ops import WIDE\n",
    },
    "where the project has another folder of that name": {
        "layers/ops.py": "WIDE = 4\n",
        "code/layers/ops.py": "WIDE = 5\n",
        "code/models/net.py": "from layers.ops import WIDE\n",
    },
    "where a file beside it has the name of a folder": {
        "code/utils/masks.py": "WIDE = 5\n",
        "code/models/utils.py": "",
        "code/models/net.py": "from utils.masks import WIDE\n",
    },
    "beside it and below a script": {
        "code/layers/ops.py": "FIRST = 2\n",
        "code/models/parts.py": "SECOND = 3\n",
        "code/models/net.py": "from layers.ops import FIRST\nfrom parts import SECOND\n\nWIDE = FIRST + SECOND\n",
    },
}


@pytest.mark.parametrize("case", LAYERS)
def test_a_file_imports_what_lies_below_its_script(case: str, tmp_path: Path) -> None:
    net = f"\n\n{NET}\n\ndef main():\n    Net({{'wide': WIDE}})(torch.rand(2, 5))\n"
    files = {name: text + net if name.endswith("net.py") else text for name, text in LAYERS[case].items()}
    write(tmp_path, files)
    (run,) = verify(find_targets([], Configuration(tmp_path), tmp_path).targets, Path(sys.executable))
    assert (run.target, run.verdict, run.reason) == ("code.models.net:Net", "exports", "")


def test_a_file_that_parses_the_command_line_is_imported_without_one(tmp_path: Path) -> None:
    options = (
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--out', required=True)\n"
        "parser.add_argument('--wide', type=int, default=5)\noptions = parser.parse_args()\n\n\n"
    )
    net = NET.replace("def __init__(self, recipe)", "def __init__(self)").replace('recipe["wide"]', "options.wide")
    write(tmp_path, {"main.py": options + net})
    (run,) = verify(find_targets([], Configuration(tmp_path), tmp_path).targets, Path(sys.executable))
    assert (run.verdict, run.reason, run.inputs) == ("exports", "", ("x: float32[batch=2, 5]",))


def test_a_folder_may_be_called_like_an_installed_package(tmp_path: Path) -> None:
    use = f"{HEAD}from net import Net\n\n\ndef main():\n    Net({{'wide': 6}})(torch.rand(2, 6))\n"
    write(tmp_path, {"json/parts/net.py": NET, "json/parts/use.py": use})
    (run,) = verify(find_targets([], Configuration(tmp_path), tmp_path).targets, Path(sys.executable))
    assert (run.target, run.verdict, run.reason) == ("json.parts.net:Net", "exports", "")
