"""Code that makes a model, and why it is not run: it would train, fetch, read or write, or cannot be told apart."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

from exportlint.cli import main
from exportlint.config import Configuration
from exportlint.verify.target import Target
from exportlint.verify.targets import find_targets
from tests.cli.runner import write
from tests.sampling import one_in

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, recipe):
        super().__init__()
        self.layer = nn.Linear(3, max(recipe, 1))

    def forward(self, x):
        return self.layer(x)
"""

HEAD = """\
import cv2, os, requests, shutil, subprocess, torch, torch.distributed as dist, urllib.request, wandb
from pathlib import Path
from PIL import Image
from torch.hub import download
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter
from torchvision import datasets
from library import Old, ImageDataset, SGD, ready, resnet, train_loader
from net import Net

"""

EFFECTS = {
    "a data set": "data = ImageDataset()\nnet = Net(data.classes)",
    "data of torchvision": "data = datasets.MNIST('.')\nnet = Net(len(data.classes))",
    "a loader": "loader = DataLoader([1])\nnet = Net(len(loader))",
    "somebody's loader": "net = Net(len(train_loader))",
    "a checkpoint": "state = torch.load('net.pt')\nnet = Net(state['recipe'])",
    "a state": "old = Old()\nold.scale = old.load_state_dict({})\nnet = Net(old.scale)",
    "a model of a hub": "net = Net(torch.hub.load('a/b', 'c').out)",
    "a trained model": "net = Net(Old.from_pretrained('a').out)",
    "trained weights": "net = Net(resnet(pretrained = True).out)",
    "a download": "path = download('a')\nnet = Net(len(path))",
    "a page": "page = urllib.request.urlopen('http://a')\nnet = Net(len(page.read()))",
    "a request": "page = requests.get('http://a')\nnet = Net(len(page.text))",
    "a process": "n = subprocess.run(['nproc'])\nnet = Net(n)",
    "a command": "n = os.system('nproc')\nnet = Net(n)",
    "a folder that is removed": "n = shutil.rmtree('a')\nnet = Net(n)",
    "a new folder": "n = os.makedirs('a')\nnet = Net(n)",
    "a file that is written": "n = open('a', 'w').write('b')\nnet = Net(n)",
    "a file that is appended to": "n = open('a', mode='ab').write(b'b')\nnet = Net(n)",
    "a file that is new": "n = open('a', 'x').write('b')\nnet = Net(n)",
    "a path that is opened": "n = Path('a').open('w').write('b')\nnet = Net(n)",
    "a path that is written": "n = Path('a').write_text('b')\nnet = Net(n)",
    "a path that is made": "path = Path('a')\npath.mkdir()\nnet = Net(len(path.name))",
    "a tensor that is saved": "n = torch.ones(3)\nn.path = torch.save(n, 'a')\nnet = Net(len(n))",
    "a group of processes": "n = dist.init_process_group('gloo')\nnet = Net(n)",
    "a log": "run = wandb.init()\nnet = Net(run.config.recipe)",
    "a question": "n = int(input('how many?'))\nnet = Net(n)",
    "an end": "n = 3 if ready else exit(1)\nnet = Net(n)",
    "training": "old = Old()\nold.loss = old(1).backward()\nnet = Net(old.loss)",
    "a step": "opt = SGD()\nopt.last = opt.step()\nnet = Net(opt.last)",
    "an image": "image = Image.open('a.png')\nnet = Net(image.width)",
    "an image of OpenCV": "image = cv2.imread('a.png')\nnet = Net(image.shape[0])",
    "a board": "board = SummaryWriter()\nnet = Net(board.n)",
}
"""Code that makes a model out of what running it would do."""

UNTOLD = {
    "an argument that nobody gives": "def build(recipe):\n    return Net(recipe)(torch.ones(2, 3))",
    "an argument that a call spreads": (
        "def build(recipe):\n    return Net(recipe)(torch.ones(2, 3))\n\n\ndef main(sizes=(3,)):\n    build(*sizes)"
    ),
    "an argument that an unknown name gives": (
        "def build(recipe):\n    return Net(recipe)(torch.ones(2, 3))\n\n\nbuild(unknown)"
    ),
    "a function that calls itself": "def build(recipe):\n    Net(recipe)(torch.ones(2, 3))\n    build(recipe)",
    "an unknown name": "def build():\n    return Net(unknown)(torch.ones(2, 3))",
    "a fixture": "class TestNet:\n    def test(self, recipe):\n        Net(recipe)(torch.ones(2, 3))",
    "an attribute of a test": "class TestNet:\n    def test(self):\n        Net(self.recipe)(torch.ones(2, 3))",
    "a fixture that needs pytest": (
        "@pytest.fixture\ndef recipe(request):\n    return request.param\n\n\n"
        "def test(recipe):\n    Net(recipe)(torch.ones(2, 3))"
    ),
    "fixtures that need each other": (
        "@pytest.fixture\ndef a(b):\n    return b\n\n\n@pytest.fixture\ndef b(a):\n    return a\n\n\n"
        "def test(a):\n    Net(a)(torch.ones(2, 3))"
    ),
    "a method that is no test": "class Tool:\n    def run(self):\n        Net(3)(torch.ones(2, 3))",
    "a name that is bound later": "def build():\n    Net(n)(torch.ones(2, 3))\n    n = 3",
}
"""Code of which nobody can say what it makes."""

TOLD = {
    "an effect that the model does not need": "train_loader = DataLoader([1])\nnet = Net(3)\nopt = SGD(net).step()",
    "what follows": "net = Net(3)\nnet.load_state_dict(torch.load('net.pt'))\nnet(torch.ones(2, 3))",
    "a file that is read": "n = len(open('net.py').read())\nnet = Net(n)",
    "a path that is read": "n = len(Path(__file__).open('rt').read())\nnet = Net(n)",
    "a default": "def build(recipe=3):\n    return Net(recipe)(torch.ones(2, 3))",
    "what the first call gives": "def build(recipe):\n    return Net(recipe)(torch.ones(2, 3))\n\n\nbuild(3)\nbuild(4)",
    "what callers of callers give": (
        "def build(n):\n    return Net(n)(torch.ones(2, 3))\n\n\ndef two(n):\n    build(n)\n\n\n"
        "def one(n):\n    two(n + 1)\n\n\none(2)"
    ),
    "a name that hides one of Python's own": "input = torch.ones(2, 3)\nNet(3)(input)",
    "the first round of a loop": "for recipe in (3, 4):\n    Net(recipe)(torch.ones(2, 3))",
    "what a test class sets up": (
        "class TestNet(TestCase):\n    wide = 3\n\n    def setUp(self):\n        self.net = Net(self.wide)\n\n"
        "    def test(self):\n        self.net(torch.ones(2, 3))"
    ),
    "what fixtures give": (
        "@pytest.fixture\ndef recipe():\n    return 3\n\n\n"
        "@pytest.fixture(scope='module')\ndef net(recipe):\n    yield Net(recipe)\n    print('done')\n\n\n"
        "def test(net):\n    net(torch.ones(2, 3))"
    ),
    "a fixture for a method": (
        "@pytest.fixture\ndef recipe():\n    return 3\n\n\n"
        "class TestNet:\n    def test(self, recipe):\n        Net(recipe)(torch.ones(2, 3))"
    ),
    "the first parameters of a test": (
        "@pytest.mark.parametrize(('recipe, batch'), [(3, 2), (4, 5)])\n"
        "def test(recipe, batch):\n    Net(recipe)(torch.ones(batch, 3))"
    ),
    "no more arguments than given": "def build(*sizes, **more):\n    return Net(3 + len(sizes))(torch.ones(2, 3))",
}
"""Code that can be told, and is run without the rest."""


def usages(root: Path, code: str) -> tuple[bool, str]:
    """Whether a file's use of `Net` is a target, and the list of targets."""
    write(root, {"pyproject.toml": "", "net.py": NET, "use.py": f"{HEAD}{code}\n"})
    out = io.StringIO()
    with contextlib.chdir(root), contextlib.redirect_stdout(out):
        main(["verify", "--list", "net.py"])
    return out.getvalue().startswith("net:Net  net.py:5  non-strict  cpu  usage"), out.getvalue()


@pytest.mark.parametrize("case", one_in(7, EFFECTS))
def test_what_does_more_than_make_a_model_is_not_run(case: str, tmp_path: Path) -> None:
    is_target, listed = usages(tmp_path, EFFECTS[case])
    assert not is_target
    assert "net:Net  net.py:5  its constructor needs `recipe`: give a target" in listed


@pytest.mark.parametrize("case", one_in(4, UNTOLD))
def test_what_cannot_be_told_is_not_run(case: str, tmp_path: Path) -> None:
    is_target, listed = usages(tmp_path, UNTOLD[case])
    assert not is_target, listed


CONFTESTS = {
    "a fixture of the folder": (
        {
            "tests/conftest.py": (
                "import pytest\nfrom net import Net\n\nWIDE = 3\n\n\n"
                "@pytest.fixture\ndef net():\n    return Net(WIDE)\n"
            )
        },
        True,
    ),
    "a fixture of the folder above, which the nearest one needs": (
        {
            "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef recipe():\n    return 3\n",
            "tests/conftest.py": "import pytest\nimport net as nets\n\n\n"
            "@pytest.fixture(scope='session')\ndef net(recipe):\n    yield nets.Net(recipe)\n",
        },
        True,
    ),
    "an imported fixture": (
        {
            "tests/__init__.py": "",
            "tests/conftest.py": "from .made import *\n",
            "tests/made.py": (
                "from pytest import fixture\nfrom .sizes import WIDE\n\n\n"
                "@fixture\ndef net():\n    from net import Net\n\n    return Net(WIDE)\n"
            ),
            "tests/sizes.py": "WIDE = 3\n",
        },
        True,
    ),
    "a fixture that downloads": (
        {
            "tests/conftest.py": (
                "import pytest, torch\nfrom net import Net\n\nSTATE = torch.load('net.pt')\n\n\n"
                "@pytest.fixture\ndef net():\n    return Net(STATE['recipe'])\n"
            )
        },
        False,
    ),
    "a fixture with parameters": (
        {
            "tests/conftest.py": (
                "import pytest\nimport net as nets\n\nWIDE = 3\n\n\n"
                "@pytest.fixture(params=[nets.Net, pytest.param(None, id='none')])\ndef cls(request):\n"
                "    return request.param\n\n\n@pytest.fixture\ndef net(cls):\n    return cls(WIDE)\n"
            )
        },
        True,
    ),
    "a fixture of another folder": (
        {
            "others/conftest.py": (
                "import pytest\nfrom net import Net\n\n\n@pytest.fixture\ndef net():\n    return Net(3)\n"
            )
        },
        False,
    ),
    "a function that is no fixture": (
        {"tests/conftest.py": "from net import Net\n\n\ndef net():\n    return Net(3)\n"},
        False,
    ),
}
"""Files beside a test that asks for `net`, and whether they say what that is."""


@pytest.mark.parametrize("case", one_in(3, CONFTESTS))
def test_fixtures_come_from_the_folders_around(case: str, tmp_path: Path) -> None:
    files, expected = CONFTESTS[case]
    write(tmp_path, {**files, "tests/test_net.py": "import torch\n\n\ndef test(net):\n    net(torch.ones(2, 3))\n"})
    write(tmp_path, {"pyproject.toml": "", "net.py": NET})
    (target,) = find_targets(["net.py"], Configuration(tmp_path), tmp_path).targets or [None]
    assert (isinstance(target, Target) and getattr(target.inputs, "inputs", None) is not None) is expected


@pytest.mark.thorough
def test_a_model_of_a_fixture_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, _ = CONFTESTS["an imported fixture"]
    code = "import torch\n\n\nclass TestNet:\n    def test(self, net):\n        net(torch.ones(5, 3))\n"
    write(tmp_path, {**files, "pyproject.toml": "", "net.py": NET, "tests/test_net.py": code})
    with contextlib.chdir(tmp_path):
        main(["verify", "--no-cache", "--output-format", "json", "net.py"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["verdict"], run["inputs"]) == ("exports", ["x: float32[x.shape[0]=5, 3]"])


@pytest.mark.parametrize("case", one_in(4, TOLD))
def test_the_rest_of_the_code_does_not_matter(case: str, tmp_path: Path) -> None:
    is_target, listed = usages(tmp_path, TOLD[case])
    assert is_target, listed


DOCUMENTS = {
    "an example": ("```python\nfrom net import Net\nimport torch\nNet(3)(torch.ones(2, 3))\n```\n", True),
    "a block that goes on": (
        "```python\nfrom net import Net\nimport torch\nx = torch.ones(2, 3)\n```\n\nThen:\n\n```py\nNet(3)(x)\n```\n",
        True,
    ),
    "a name of another block": (
        (
            "```python\nfrom net import Net\nimport torch\nnet = Net(3)\nnet(torch.ones(2, 3))\n```\n"
            "```python\nfrom other import Net\nnet = Net()\n```\n"
        ),
        True,
    ),
    "a block in a list": (
        "- So:\n\n  ```python\n  from net import Net\n  import torch\n  Net(3)(torch.ones(2, 3))\n  ```\n",
        True,
    ),
    "no Python": ("```python\nfrom net import Net\n$ python\nNet(3)\n```\n```bash\nNet(3)\n```\n", False),
    "text": ("Write `Net(3)`.\n", False),
    "an empty block": ("```python\n```\n", False),
    "a block without end": ("```python\nfrom net import Net\nNet(3)\n", True),
    "a checkpoint": ("```python\nimport torch\nfrom net import Net\nNet(torch.load('n'))\n```\n", False),
}
"""READMEs, and whether they show how to make `Net`."""


@pytest.mark.parametrize("case", one_in(3, DOCUMENTS))
def test_documents_show_what_models_are_made_of(case: str, tmp_path: Path) -> None:
    text, expected = DOCUMENTS[case]
    write(tmp_path, {"README.md": text})
    is_target, listed = usages(tmp_path, "")
    assert is_target is expected, listed


@pytest.mark.thorough
def test_an_example_of_a_document_is_run_with_its_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = "# Net\n\n```python\nimport torch\nfrom net import Net\nnet = Net(3)\nnet(torch.ones(1, 3))\n```\n"
    write(tmp_path, {"pyproject.toml": "", "net.py": NET, "docs/use.md": readme})
    with contextlib.chdir(tmp_path):
        assert main(["verify", "--keep-warm", "0", "--no-cache", "net.py"]) == 0
        assert "net:Net  exports" in capsys.readouterr().out
        write(tmp_path, {"docs/use.md": readme.replace("Net(3)", "Net([][0])")})
        assert main(["verify", "--keep-warm", "0", "--no-cache", "net.py"]) == 1
    assert "build: IndexError: list index out of range (line 6 of use.md)" in capsys.readouterr().out


@pytest.mark.thorough
def test_names_may_come_from_an_import_of_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    use = "import torch\nfrom net import Net\nfrom sizes import *\n\nNet(RECIPE)(torch.ones(2, 3))\n"
    write(tmp_path, {"pyproject.toml": "", "net.py": NET, "sizes.py": "RECIPE = 3\n", "use.py": use})
    with contextlib.chdir(tmp_path):
        assert main(["verify", "--keep-warm", "0", "--no-cache", "net.py"]) == 0
    assert "net:Net  exports" in capsys.readouterr().out
