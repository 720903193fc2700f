"""Files that import each other: what happens to one of them does not spoil the findings in another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint

MODEL = """\
from helpers import total
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        if x.any():
            return x
        if total(x) > 0:
            return x
        return y
"""
OWN = ("model.py", 7, "EXP101")
THROUGH_HELPERS = ("model.py", 9, "EXP101")

TOTAL = "def total(t):\n    return t.sum()\n"
ROWS = "def total(t):\n    return t.shape[0]\n"


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def found(root: Path, *names: str, **options: Any) -> list[tuple[str, int, str]]:
    """File, row and code of the findings in the named files."""
    settings = combine([Layer(root, {"torch-version": (2, 13), **options})], root)
    result = lint([Task(root / name, settings) for name in names])
    return [(relative(f.filename, root), f.span.start.row, f.code) for f in result.findings]


def relative(filename: str, root: Path) -> str:
    return Path(filename).relative_to(root).as_posix()


@pytest.mark.parametrize(
    "helpers",
    [
        {},
        {"helpers.py": "def total(t:\n"},
        {"helpers.py": b"\xff\xfe"},
        {"helpers.py": "# coding: no-such-encoding\n" + TOTAL},
        {"helpers.py": b"\0"},
        {"helpers.py": ""},
        {"helpers.py": "total = 3\n"},
        {"helpers.py": "from helpers import total\n"},
        {"helpers.py": "from helpers import *\n"},
        {"helpers.py": "from model import total\n"},
        {"helpers.py": "from other import total\n", "other.py": "from helpers import total\n"},
        {"helpers.py": "from other import *\n", "other.py": "from helpers import *\n"},
        {"helpers.py/inner.py": TOTAL},
        {"helpers/inner.py": TOTAL},
        {"helpers/__init__.py/inner.py": TOTAL},
    ],
    ids=repr,
)
def test_a_helper_that_says_nothing(helpers: dict[str, str | bytes], tmp_path: Path) -> None:
    write(tmp_path, {"model.py": MODEL, **helpers})
    assert found(tmp_path, "model.py") == [OWN]


@pytest.mark.parametrize(
    "helpers",
    [
        {"helpers.py": TOTAL},
        {"helpers.py": TOTAL.replace("\n", "\r\n")},
        {"helpers.py": b"\xef\xbb\xbf" + TOTAL.encode()},
        {"helpers.py": b"# coding: latin-1\n# \xe9\n" + TOTAL.encode()},
        {"helpers/__init__.py": TOTAL},
        {"helpers/__init__.py": "from helpers.inner import total\n", "helpers/inner.py": TOTAL},
        {"helpers/__init__.py": TOTAL, "helpers.py": ROWS},
        {"helpers.py": ROWS + TOTAL},
        {"helpers.py": "if 1:\n    " + TOTAL.replace("\n", "\n    ")},
        {"helpers.py": "def _total(t):\n    return t.sum()\n\n\ntotal = _total\n"},
        {"helpers.py": "total = lambda t: t.sum()\n"},
        {"helpers.py": "import torch\n\ntotal = torch.sum\n"},
        {"helpers.py": "from torch import sum as total\n"},
        {"src/helpers.py": TOTAL},
    ],
    ids=repr,
)
def test_a_helper_that_returns_a_tensor(helpers: dict[str, str | bytes], tmp_path: Path) -> None:
    write(tmp_path, {"model.py": MODEL, **helpers})
    assert found(tmp_path, "model.py") == [OWN, THROUGH_HELPERS]


def test_a_linked_helper(tmp_path: Path) -> None:
    write(tmp_path, {"model.py": MODEL, "elsewhere/actual.py": TOTAL})
    (tmp_path / "helpers.py").symlink_to(tmp_path / "elsewhere/actual.py")
    assert found(tmp_path, "model.py") == [OWN, THROUGH_HELPERS]


def test_src_says_where_imports_start(tmp_path: Path) -> None:
    write(tmp_path, {"model.py": MODEL, "lib/helpers.py": TOTAL})
    assert found(tmp_path, "model.py") == [OWN]
    assert found(tmp_path, "model.py", src=("lib",)) == [OWN, THROUGH_HELPERS]


def test_findings_in_a_helper_are_those_of_its_file(tmp_path: Path) -> None:
    helpers = "def total(t):\n    assert t.any()\n    return t.shape[0]\n"
    write(tmp_path, {"model.py": MODEL, "helpers.py": helpers})
    in_helpers = ("helpers.py", 2, "EXP104")
    assert found(tmp_path, "model.py") == [OWN]
    assert found(tmp_path, "model.py", "helpers.py") == [in_helpers, OWN]
    assert found(tmp_path, "helpers.py", "model.py") == [in_helpers, OWN]
    assert found(tmp_path, "helpers.py") == []


def test_two_projects_with_the_same_names(tmp_path: Path) -> None:
    write(tmp_path, {"a/model.py": MODEL, "a/helpers.py": TOTAL, "b/model.py": MODEL, "b/helpers.py": ROWS})
    assert found(tmp_path, "a/model.py", "b/model.py") == [
        ("a/model.py", 7, "EXP101"),
        ("a/model.py", 9, "EXP101"),
        ("b/model.py", 7, "EXP101"),
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_files(jobs: int, tmp_path: Path) -> None:
    names = [f"pkg{n % 3}/model{n}.py" for n in range(24)]
    write(tmp_path, dict.fromkeys(names, MODEL.replace("from helpers", "from .helpers")))
    for n in range(3):
        write(tmp_path, {f"pkg{n}/__init__.py": "", f"pkg{n}/helpers.py": TOTAL})
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    result = lint([Task(tmp_path / name, settings) for name in names], jobs)
    places = [(relative(f.filename, tmp_path), f.span.start.row) for f in result.findings]
    assert places == [(name, row) for name in sorted(names) for row in (7, 9)]
