"""What verify lints: the files of the project, and those of libraries that torch blames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exportlint.config import Configuration, Layer
from exportlint.findings import Mode
from exportlint.verify.linting import Linted
from exportlint.verify.results import Comparison, Failure, Frame, ModelClass, Run

NET = """\
from torch import nn


class Cache:
    def __init__(self, size):
        self.size = size


class Model(nn.Module):
    def __init__(self, use_cache):
        super().__init__()
        self.use_cache = use_cache

    def forward(self, x):
        cache = None
        if self.use_cache:
            cache = (
                Cache(1)
                if x.dim() == 3
                else Cache(2)
            )
        return x + 1, cache
"""


def judged(directory: Path, model: ModelClass | None, mode: Mode = "non-strict") -> list[tuple[str, int, str]]:
    """The code, the row and the ruling of what is found in a library of which a line is blamed."""
    library = directory / "site-packages" / "library"
    library.mkdir(parents=True)
    (library / "__init__.py").touch()
    (library / "net.py").write_text(NET, encoding="utf-8")
    message = "Found <class 'library.net.Cache'> in output, which is not a known type."
    failure = Failure("export", "RuntimeError", message, (Frame(str(library / "net.py"), 20),))
    run = Run("target", mode, "cpu", "fails", failures=(failure,), model=model)
    judgement = Linted(Configuration(directory, overrides=[Layer(directory, {"torch-version": (2, 13)})])).judge(
        [run], []
    )
    return [(j.finding.code, j.finding.span.start.row, j.ruling) for j in judgement.findings]


def test_the_model_of_a_library_counts_as_exported(tmp_path: Path) -> None:
    file = tmp_path / "site-packages" / "library" / "net.py"
    found = judged(tmp_path, ModelClass(str(file), "Model"))
    assert ("EXP701", 20, "confirmed") in found


def test_only_the_finding_on_the_line_that_raises_is_confirmed(tmp_path: Path) -> None:
    file = tmp_path / "site-packages" / "library" / "net.py"
    found = judged(tmp_path, ModelClass(str(file), "Model"))
    assert ("EXP701", 18, "not reached") in found


def test_other_models_of_a_library_do_not(tmp_path: Path) -> None:
    file = tmp_path / "site-packages" / "library" / "net.py"
    assert not [one for one in judged(tmp_path, ModelClass(str(file), "Other")) if one[0] == "EXP701"]


def test_without_its_class_nothing_counts_as_exported(tmp_path: Path) -> None:
    assert not [one for one in judged(tmp_path, None) if one[0] == "EXP701"]


@pytest.mark.parametrize(
    ("settings", "label", "inputs", "said"),
    [
        ({}, "seq = 7", "x: float32[batch=2, seq=6]", "dimension 1 for static: `dynamic-dims = [0, 1]`"),
        (
            {},
            "h = 3, w = 5",
            "x[0]: float32[2, 3, h=4, w=4]",
            "dimensions 2 and 3 for static: `dynamic-dims = [0, 2, 3]`",
        ),
        ({}, "x.shape[1] = 7", "x: float32[2, x.shape[1]=6]", "dimension 1 for static"),
        ({}, "batch = 3", "x: float32[batch=2, seq=6]", ""),
        ({"dynamic-dims": [0, 1]}, "seq = 7", "x: float32[batch=2, seq=6]", ""),
    ],
)
def test_a_size_that_the_linter_takes_for_static_is_told(
    settings: dict[str, Any], label: str, inputs: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "net.py"
    file.write_text(NET, encoding="utf-8")
    compared = Comparison("size", label, "narrower", "the program raises AssertionError: Guard failed")
    run = Run(
        "net:Model", "non-strict", "cpu", "narrower", comparisons=(compared,), inputs=(inputs,),
        model=ModelClass(str(file), "Model"),
    )  # fmt: skip
    linted = Linted(Configuration(tmp_path, isolated=True, overrides=[Layer(tmp_path, settings)]))
    (missed,) = linted.judge([run], []).missed
    assert said in missed.hint
    assert bool(missed.hint) == bool(said)
