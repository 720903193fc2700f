"""Ways to models and their inputs that the code of a project shows, from what is listed to the inputs of a real run."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.config import Configuration
from exportlint.verify.results import Run
from exportlint.verify.run import verify
from exportlint.verify.target import Part, Target
from exportlint.verify.targets import Found, find_targets
from tests.cli.runner import write
from tests.sampling import one_in

HEAD = "import torch\nfrom torch import nn\n\n\n"

NET = (
    HEAD
    + """\
class Block(nn.Module):
    def __init__(self, recipe):
        super().__init__()
        self.conv = nn.Conv2d(recipe["wide"], 4, 1)

    def forward(self, x):
        return self.conv(x)


class Net(nn.Module):
    def __init__(self, recipe):
        super().__init__()
        self.first = nn.Conv2d(3, recipe["wide"], 1)
        self.block = Block(recipe)

    def forward(self, x):
        return self.block(self.first(x))
"""
)

USES = {
    "the main program": (
        "",
        'if __name__ == "__main__":\n    net = Net({"wide": 6})\n    print(net(torch.rand(2, 3, 5, 7)).shape)\n',
    ),
    "a test in the file": ("", 'def test():\n    x = torch.rand(2, 3, 5, 7)\n    return Net({"wide": 6}).cuda()(x)\n'),
    "another file": (
        "from net import Net\n",
        "def test_net():\n    net = Net({'wide': 6})\n    with torch.no_grad():\n        net(torch.rand(2, 3, 5, 7))\n",
    ),
    "an import in a function": (
        "import os\n",
        "def test_net():\n    from net import Net\n\n    Net({'wide': 6})(torch.rand(2, 3, 5, 7))\n",
    ),
    "a factory": (
        "",
        'def net(wide=6):\n    return Net({"wide": wide})\n\n\ndef main():\n    net()(torch.rand(2, 3, 5, 7))\n',
    ),
    "options of the command line": (
        "import argparse\nfrom net import Net\n",
        (
            "def main(options):\n    net = Net({'wide': options.wide})\n    net(torch.rand(2, 3, 5, 7))\n\n\n"
            "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
            "    parser.add_argument('--wide', type=int, default=6)\n    main(parser.parse_args())\n"
        ),
    ),
    "an option that names a data set": (
        "import argparse\nfrom net import Net\n",
        (
            "parser = argparse.ArgumentParser()\n"
            "parser.add_argument('--dataset', default='a', help='its data loader')\n\n\n"
            "def main():\n    global args\n    args = parser.parse_args()\n"
            "    Net({'wide': 6 if args.dataset == 'a' else 9})(torch.rand(2, 3, 5, 7))\n"
        ),
    ),
    "an option that is required": (
        "import argparse\nfrom net import Net\n",
        (
            "def main(options):\n    Net({'wide': options.wide})(torch.rand(2, 3, 5, 7))\n\n\n"
            "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
            "    parser.add_argument('--wide', type=int, default=6)\n    parser.add_argument('--out', required=True)\n"
            "    parser.add_argument('data')\n    main(parser.parse_args())\n"
        ),
    ),
    "a set-up of tests": (
        "import unittest\nfrom net import Net\n",
        (
            "class NetTest(unittest.TestCase):\n    def setUp(self):\n        self.net = Net({'wide': 6})\n\n"
            "    def test(self):\n        self.net(torch.rand(2, 3, 5, 7))\n"
        ),
    ),
    "fixtures": (
        "import pytest\nfrom net import Net\n",
        (
            "@pytest.fixture\ndef net():\n    yield Net({'wide': 6})\n\n\n"
            "@pytest.mark.parametrize('size', [5, 50])\ndef test(net, size):\n    net(torch.rand(2, 3, size, 7))\n"
        ),
    ),
    "values that are computed": (
        "import pytest\nfrom net import Net\n\nSIZES = ((n, 7) for n in (5, 50))\n",
        (
            "@pytest.fixture(params=[2 * n for n in range(3, 5)])\ndef net(request):\n"
            "    return Net({'wide': request.param})\n\n\n"
            "@pytest.mark.parametrize('height, width', SIZES)\n"
            "def test(net, height, width):\n    net(torch.rand(2, 3, height, width))\n"
        ),
    ),
    "a trace": ("", 'def trace():\n    torch.jit.trace(Net({"wide": 6}), torch.rand(2, 3, 5, 7))\n'),
    "an export to ONNX": (
        "",
        'def export(f="a"):\n    torch.onnx.export(Net({"wide": 6}), args=(torch.rand(2, 3, 5, 7),), f=f)\n',
    ),
    "thop": (
        "from net import Net\n",
        "from thop import profile\n\n\ndef flops():\n    profile(Net({'wide': 6}), inputs=(torch.rand(2, 3, 5, 7),))\n",
    ),
    "torchinfo": (
        "from net import Net\n",
        "from torchinfo import summary\n\n\ndef show():\n    summary(Net({'wide': 6}), input_size=(2, 3, 5, 7))\n",
    ),
    "a large batch": ("", 'def test():\n    return Net({"wide": 6})(torch.rand(10_000, 3, 5, 7))\n'),
    "a batch of one": ("", 'def test():\n    return Net({"wide": 6})(torch.rand(1, 3, 5, 7))\n'),
}


def project(tmp_path: Path, files: dict[str, str]) -> Found:
    write(tmp_path, files)
    return find_targets([], Configuration(tmp_path), tmp_path)


def run(interpreter: Path, *targets: Target) -> list[Run]:
    return list(verify(targets, interpreter))


@pytest.fixture(scope="module")
def interpreter() -> Path:
    import sys

    pytest.importorskip("torch")
    return Path(sys.executable)


@pytest.mark.thorough
@pytest.mark.parametrize("use", one_in(4, USES))
def test_what_the_code_makes_is_run_as_it_is_called(use: str, tmp_path: Path, interpreter: Path) -> None:
    imports, code = USES[use]
    files = (
        {"use.py": HEAD.rstrip() + f"\n{imports}\n\n{code}", "net.py": NET}
        if imports
        else {"net.py": f"{NET}\n\n{code}"}
    )
    found = project(tmp_path, files)
    assert [(target.name, target.origin) for target in found.targets] == [("net:Block", "part"), ("net:Net", "usage")]
    block, net = run(interpreter, *found.targets)
    assert (block.verdict, block.reason) == ("exports", "")
    assert (net.verdict, net.reason) == ("exports", "")
    assert [text.partition(": ")[2].replace("x.shape[0]", "batch") for text in net.inputs] == [
        "float32[batch=2, 3, 5, 7]"
    ]
    assert [text.split("[")[0] for text in block.inputs] == ["x: float32"]
    assert block.inputs[0].endswith("=2, 6, 5, 7]")


def test_a_part_is_looked_for_in_what_is_made_of_a_file_of_data_first(tmp_path: Path) -> None:
    block = "class Block(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
    whole = "class Net(nn.Module):\n    def __init__(self, width, depth):\n        super().__init__()\n"
    forward = "\n    def forward(self, x):\n        return self.layer(x)\n\n\n"
    layer = "        self.layer = "
    code = f"{HEAD}{block}{layer}nn.Linear(width, 2)\n{forward}{whole}{layer}Block(width)\n{forward}"
    (one, net) = project(tmp_path, {"net.py": code, "net.yaml": "net:\n  width: 5\n  depth: 2\n"}).targets
    assert isinstance(one.inputs, Part)
    assert [whole.inputs for whole in one.inputs.wholes] == [net.inputs]
    (one, net) = project(tmp_path, {"net.py": code, "net.yaml": ""}).targets
    assert [way.origin for way in (one, *one.otherwise)] == ["inferred", "part"]


def test_one_tensor_for_several_inputs_becomes_several(tmp_path: Path, interpreter: Path) -> None:
    """torch.export would take them for one input."""
    code = (
        f"{HEAD}class Add(nn.Module):\n    def __init__(self, recipe):\n        super().__init__()\n\n"
        "    def forward(self, x, y):\n        return x + y\n\n\n"
        "def test():\n    x = torch.rand(2, 3)\n    Add({})(x, x)\n"
    )
    (run_,) = run(interpreter, *project(tmp_path, {"add.py": code}).targets)
    assert (run_.verdict, run_.reason) == ("exports", "")


@pytest.mark.thorough
def test_a_test_of_a_package_is_run(tmp_path: Path, interpreter: Path) -> None:
    """Its statements are indented, and are looked at for imports from the package."""
    use = "import torch\nfrom net import Net\n\n\ndef test():\n    Net({'wide': 6})(torch.rand(2, 3, 5, 7))\n"
    found = project(tmp_path, {"tests/__init__.py": "", "tests/use.py": use, "net.py": NET})
    assert [run.verdict for run in run(interpreter, *found.targets)] == ["exports", "exports"]


@pytest.mark.thorough
def test_what_is_larger_than_needed_is_not_even_tried(tmp_path: Path, interpreter: Path) -> None:
    code = (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self, recipe):\n        super().__init__()\n\n"
        "    def forward(self, x):\n        if len(x) > 1000:\n            raise MemoryError\n        return x\n\n\n"
        "def test():\n    Net({})(torch.rand(100_000, 30))\n"
    )
    (run_,) = run(interpreter, *project(tmp_path, {"net.py": code}).targets)
    assert [text.partition(": ")[2].replace("x.shape[0]", "batch") for text in run_.inputs] == ["float32[batch=2, 30]"]


SCALED = """\
class Scaled(nn.Module):
    def __init__(self, recipe):
        super().__init__()

    def forward(self, x):
        return x * sys.modules["__main__"].SCALE
"""


@pytest.mark.thorough
@pytest.mark.parametrize("is_apart", [False, True])
def test_the_file_that_makes_a_model_is_main_while_it_runs(is_apart: bool, tmp_path: Path, interpreter: Path) -> None:
    scaled = f"import sys\n{HEAD}{SCALED}"
    main = (
        'SCALE = 2.0\n\n\nif __name__ == "__main__":\n    net = Scaled({})\n    print(net(SCALE * torch.rand(2, 3)))\n'
    )
    files = (
        {"scaled.py": scaled, "train.py": f"import torch\nfrom scaled import Scaled\n\n{main}"}
        if is_apart
        else {"scaled.py": f"{scaled}\n\n{main}"}
    )
    (run_,) = run(interpreter, *project(tmp_path, files).targets)
    assert (run_.verdict, run_.reason) == ("exports", "")
