"""Whatever happens to a project between two runs, what is printed is the same with the cache as without it."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from exportlint.source import stamps
from tests.cli.runner import Run, write
from tests.sampling import one_in

FILES = {
    "pyproject.toml": "[tool.exportlint]\n",
    "net/__init__.py": "",
    "net/model.py": (
        "import torch\nfrom torch import nn\nfrom net.helper import pick\nfrom net.layers import *\n"
        "import extra.tools\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        if pick(x):\n            return scale(x)\n"
        "        return extra.tools.choose(x)\n"
    ),
    "net/helper.py": "def pick(x):\n    return x.sum() > 0\n",
    "net/layers.py": "from .scales import scale\n",
    "net/scales.py": "def scale(x):\n    return x * x.max().item()\n",
    "net/second.py": (
        "import torch\nfrom .model import Net\nfrom . import missing\n\n\nclass Second(Net):\n"
        "    def forward(self, x):\n        print(x)\n        return super().forward(x)\n"
    ),
    "extra/tools.py": "def choose(x):\n    while x.any():\n        x = x - 1\n    return x\n",
    "alone.py": "import torch\n\n\nclass Alone(torch.nn.Module):\n    def forward(self, x):\n        return x.item()\n",
}
HELPERS = (
    "def pick(x):\n    return True\n",
    "def pick(x):\n    return x.min() > 0\n",
    "def pick(x):\n    return x.max() > 0\n",  # as long as the one before
    "def pick(x: int) -> bool:\n    return x > 0\n",
    "def pick(x:\n",
    "pick = bool\n",
    "def pick(x):\n    return x.shape[0] == 3  # exportlint: ignore[EXP401]\n",
)
CONFIGURATIONS = (
    "[tool.exportlint]\n",
    '[tool.exportlint]\nmode = "strict"\n',
    '[tool.exportlint]\nignore = ["EXP1"]\n',
    "[tool.exportlint]\ndynamic-dims = []\n",
    '[tool.exportlint]\nexported = ["net.model:Net"]\n',
    '[tool.exportlint]\nsrc = ["other", "."]\nfollow-importers = "always"\n',
    '[tool.exportlint]\nper-file-ignores = { "net/**" = ["EXP2"] }\nshow-info = true\n',
)
FLAGS = (
    (),
    ("--output-format", "json"),
    ("--output-format", "concise"),
    ("--output-format", "grouped"),
    ("--output-format", "jsonl"),
    ("--output-format", "github"),
    ("--select", "EXP1", "--show-info"),
    ("--show-limits", "-v"),
    ("--statistics",),
    ("--diff", "--unsafe-fixes"),
)
PATHS = ((".",), ("net/model.py",), ("net/helper.py", "net/scales.py"), ("net",), ("net/second.py", "alone.py"))


SHADOWS = (
    "net/helper/__init__.py", "net/helper.pyi", "other/net/__init__.py", "extra/__init__.py", "net/extra/tools.py",
    "net/missing.py", "torch.py", "other/extra/tools.py", "src/extra/tools.py", "net/scales.pyi", "setup.py",
)  # fmt: skip


def _helper(root: Path, choice: random.Random) -> None:
    write(root, {"net/helper.py": choice.choice(HELPERS)})


def _configuration(root: Path, choice: random.Random) -> None:
    write(root, {"pyproject.toml": choice.choice(CONFIGURATIONS)})


def _shadow(root: Path, choice: random.Random) -> None:
    """Something that an import may lead to instead, or the end of it."""
    name = choice.choice(SHADOWS)
    if (root / name).exists():
        (root / name).unlink()
        return
    text = "def scale(x): ...\n" if name.endswith("scales.pyi") else choice.choice(HELPERS)
    write(root, {name: "" if name == "setup.py" else text + "def choose(x):\n    return x if x.all() else -x\n"})


def _delete(root: Path, choice: random.Random) -> None:
    name = choice.choice(sorted(FILES))
    if name != "pyproject.toml" and (root / name).is_file():
        (root / name).unlink()


def _restore(root: Path, choice: random.Random) -> None:
    name = choice.choice(sorted(FILES))
    write(root, {name: FILES[name]})


def _rename(root: Path, choice: random.Random) -> None:
    one, other = (root / f"net/{name}.py" for name in choice.sample(["helper", "scales", "layers", "moved"], 2))
    if one.is_file():
        one.replace(other)


def _touch(root: Path, choice: random.Random) -> None:
    path = root / choice.choice(sorted(FILES))
    if path.is_file():
        os.utime(path, (choice.choice([1, 10**9]), choice.choice([1, 10**9])))


def _deceive(root: Path, choice: random.Random) -> None:
    """Another content of the same length, with the time of the one before."""
    path = root / "net/scales.py"
    if path.is_file():
        before = path.stat()
        text = path.read_text(encoding="utf-8")
        replaced = text.replace("max()", "sum()") if "max()" in text else text.replace("sum()", "max()")
        path.write_text(replaced.replace("x * x", choice.choice(["x + x", "x * x"])), encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _link(root: Path, choice: random.Random) -> None:
    path = root / "net/scales.py"
    path.unlink(missing_ok=True)
    path.symlink_to(root / choice.choice(["net/helper.py", "extra/tools.py", "nowhere.py"]))


def _ignore(root: Path, choice: random.Random) -> None:
    write(root, {".gitignore": choice.choice(["", "extra\n", "net/second.py\n", "src\n"])})


EDITS: tuple[Callable[[Path, random.Random], None], ...] = (
    _helper, _helper, _configuration, _shadow, _shadow, _delete, _restore, _restore, _rename, _touch, _deceive, _link,
    _ignore,
)  # fmt: skip


def _walk(seed: int, count: int, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = random.Random(seed)
    if seed % 2:  # stamps are believed at once, as they are for files that are not being edited
        monkeypatch.setattr(stamps, "_TICKS", 0)
    write(root, FILES)
    (root / ".git").mkdir()
    told: set[str] = set()
    for number in range(count):
        edit = choice.choice(EDITS)
        edit(root, choice)
        time.sleep(0.02)  # longer than a tick of the file system
        for _ in range(2):
            argv = [*choice.choice(FLAGS), *choice.choice(PATHS)]
            fresh = run(*argv, "--no-cache")
            for _ in range(2):
                assert run(*argv) == fresh, f"seed {seed}, edit {number}, {edit.__name__}: {' '.join(argv)}"
            told.add(fresh.out)
        if choice.random() < 0.1:
            run("--fix", "net", "alone.py")
    assert len(told) > count // 3
    shutil.rmtree(root / ".exportlint_cache")


@pytest.mark.parametrize("seed", one_in(4, range(4)))
def test_edits(seed: int, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _walk(seed, 12, root, run, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_edits(seed: int, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _walk(seed, 60, root, run, monkeypatch)
