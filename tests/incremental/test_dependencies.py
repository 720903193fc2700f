"""What a class depends on without naming it: where that changes, what is kept of the class is not believed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from exportlint.big_stack import on_big_stack
from exportlint.config import Configuration
from exportlint.workspace import NO_FIXES, Task, Workspace

HEAD = "import torch\nfrom torch import nn\n\n\n"
NET = "class Net(nn.Module):\n    def forward(self, x):\n        return {}\n\n\n"
ABSTRACT = "class Base(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError\n\n\n"
CALL = NET.format("torch.ops.my.copy(x)")
OPERATOR = "def kernel(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n\n\n"
FAKE = "@fake('my::copy')\ndef shape(x):\n    return x\n\n\n"
NAMED = f"from torch.library import custom_op\n{HEAD}"
RENAMED = f"from torch.library import custom_op as op, register_fake as fake\n{HEAD}"
ASKS = "def ask(v):\n    return v if v.sum() > 0 else -v\n\n\n"
FIRST = NET.replace("Net", "First").format("ask(y)").replace("return", "y = x.clone()\n        return")
LONG = FIRST.replace("y =", "x = x.abs()\n        y =")
SECOND = NET.replace("Net", "Second").format("ask(y)").replace("return", "y = x.abs()\n        return")
COMPUTED = "getattr(helper, 'fl' + '\\x69p')(x)"
FLIP = "def flip(x):\n    return x\n"
READ = "def flip(x):\n    return x.item()\n"

CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a base by its whole name": (
        {"model.py": f"import model\n{HEAD}{ABSTRACT}"},
        {"model.py": f"import model\n{HEAD}{ABSTRACT}class Net(model.Base):\n    pass\n"},
    ),
    "the name of an operator": (
        {"model.py": f"{NAMED}@custom_op('my::copy', mutates_args=())\n{OPERATOR}{CALL}"},
        {"model.py": f"{NAMED}@custom_op('my::same', mutates_args=())\n{OPERATOR}{CALL}"},
    ),
    "a fake kernel that is registered by another name": (
        {"model.py": f"{RENAMED}@op('my::copy', mutates_args=())\n{OPERATOR}{CALL}"},
        {"model.py": f"{RENAMED}@op('my::copy', mutates_args=())\n{OPERATOR}{FAKE}{CALL}"},
    ),
    "an operator of a file that an imported file imports": (
        {"model.py": f"import helper\n{HEAD}{CALL}", "helper.py": "LIMIT = 3\n",
         "kernels.py": f"{HEAD}@torch.library.custom_op('my::copy', mutates_args=())\n{OPERATOR}"},
        {"helper.py": "LIMIT = 3\nimport kernels\n"},
    ),
    "a name that Python normalizes, behind a star": (
        {"model.py": f"from helper import *\n{HEAD}{NET.format('find(x)')}",
         "helper.py": "def ﬁnd(x):\n    return x\n"},
        {"helper.py": "def ﬁnd(x):\n    return x.item()\n"},
    ),
    "a name of a module that is put together": (
        {"model.py": f"import helper\n{HEAD}{NET.format(COMPUTED)}", "helper.py": FLIP},
        {"helper.py": READ},
    ),
    "a class that is registered": (
        {"model.py": f"from dataclasses import dataclass\n{HEAD}@dataclass\nclass Out:\n    a: torch.Tensor\n\n\n"
                     f"{NET.format('Out(x)')}"},
        {"model.py": f"from dataclasses import dataclass\n{HEAD}@dataclass\nclass Out:\n    a: torch.Tensor\n\n\n"
                     f"{NET.format('Out(x)')}for one in [Out]:\n    torch.export.register_dataclass(one)\n"},
    ),
    "a class that the file that imports it registers": (
        {"model.py": f"from helper import Out\n{HEAD}{NET.format('Out(x)')}",
         "helper.py": f"from dataclasses import dataclass\n{HEAD}@dataclass\nclass Out:\n    a: torch.Tensor\n"},
        {"model.py": f"from helper import Out\n{HEAD}{NET.format('Out(x)')}torch.export.register_dataclass(Out)\n"},
    ),
    "dims in a constant": (
        {"model.py": f"{HEAD}{NET.format('x if x.shape[1] == 3 else -x')}D = {{'x': {{0: torch.export.Dim.AUTO}}}}\n"
                     "torch.export.export(Net(), (torch.ones(2, 3),), dynamic_shapes=D)\n"},
        {"model.py": f"{HEAD}{NET.format('x if x.shape[1] == 3 else -x')}D = {{'x': {{1: torch.export.Dim.DYNAMIC}}}}\n"
                     "torch.export.export(Net(), (torch.ones(2, 3),), dynamic_shapes=D)\n"},
    ),
    "a switch of torch": (
        {"model.py": f"from torch.distributions import Normal\n{HEAD}{NET.format('Normal(x, x.exp()).log_prob(x)')}"},
        {"model.py": f"from torch.distributions import Normal\n{HEAD}{NET.format('Normal(x, x.exp()).log_prob(x)')}"
                     "Normal.set_default_validate_args(False)\n"},
    ),
    "a stub beside it": (
        {"model.py": f"{HEAD}{NET.format('x + 1 if x > 3 else x')}",
         "model.pyi": "class Net:\n    def forward(self, x: int): ...\n"},
        {"model.pyi": "class Net:\n    def forward(self, x): ...\n"},
    ),
    "which of two statements in one line is the last": (
        {"model.py": f"{HEAD}on = 0; on = 1\n{NET.format('x.item() if on else x')}"},
        {"model.py": f"{HEAD}on = 1; on = 0\n{NET.format('x.item() if on else x')}"},
    ),
    "which of two star imports is the first": (
        {"model.py": f"from one import *\nfrom two import *\n{HEAD}{NET.format('flip(x)')}", "one.py": FLIP,
         "two.py": READ},
        {"model.py": f"from two import *\nfrom one import *\n{HEAD}{NET.format('flip(x)')}"},
    ),
    "what only type checkers see": (
        {"model.py": f"if TYPE_CHECKING:\n    from one import flip\n{HEAD}{NET.format('flip(x)')}", "one.py": FLIP,
         "two.py": READ},
        {"model.py": f"if TYPE_CHECKING:\n    from one import flip\nelse:\n    from two import flip\n{HEAD}"
                     f"{NET.format('flip(x)')}"},
    ),
    "statements that become a text": (
        {"model.py": f"{HEAD}{NET.format('x.item()')}"},
        {"model.py": f"{HEAD}'''\n{NET.format('x.item()')}'''\n"},
    ),
    "one of two classes that are alike": (
        {"model.py": f"{HEAD}{NET.format('x.item()')}{NET.format('x.item()')}"},
        {"model.py": f"{HEAD}{NET.format('x.item()')}"},
    ),
    "the class by way of which a function is first called": (
        {"model.py": f"{HEAD}{ASKS}{FIRST}{SECOND}"},
        {"model.py": f"{HEAD}{ASKS}{SECOND}{FIRST}"},
    ),
    "the shortest way to a function": (
        {"model.py": f"{HEAD}{ASKS}{LONG}{SECOND}"},
        {"model.py": f"{HEAD}{ASKS}{LONG}{SECOND.replace('abs', 'clone')}"},
    ),
    "a way through functions that several classes call": (
        {"model.py": f"{HEAD}{ASKS}{FIRST}def inner(v):\n    return ask(v + 1)\n\n\n{NET.format('inner(x)')}"},
        {"model.py": f"{HEAD}{ASKS}def inner(v):\n    return ask(v + 1)\n\n\n{NET.format('inner(x)')}{FIRST}"},
    ),
}  # fmt: skip


def said(root: Path, kept: Workspace | None = None) -> dict[str, object]:
    """What is found in all files, by default each looked at alone."""
    configuration = Configuration(root)
    found: dict[str, object] = {}
    for path in sorted(root.glob("*.py")):
        task = Task(path, configuration.for_file(path))
        workspace = kept or Workspace({})
        found[path.name] = on_big_stack(partial(workspace.lint, task, NO_FIXES)).findings
    return found


def write(root: Path, texts: dict[str, str]) -> list[Path]:
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")
    return [root / name for name in texts]


@pytest.mark.parametrize("case", CASES)
def test_what_is_kept_is_not_believed(case: str, tmp_path: Path) -> None:
    """Forth, back, and forth: that a file was parsed before must make no difference either."""
    before, after = CASES[case]
    (tmp_path / ".git").mkdir()
    write(tmp_path, before)
    workspace = Workspace({}, keeps_results=True)
    first = said(tmp_path, workspace)
    for texts in (after, before, after):
        for path in write(tmp_path, texts):
            workspace.forget(path)
        found = said(tmp_path, workspace)
        assert found == said(tmp_path)
        assert (found == first) is (texts is before)
