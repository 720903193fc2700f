"""What verify lints: the files of the project, and those of libraries that torch blames."""

from __future__ import annotations

from pathlib import Path

from exportlint.config import Configuration, Layer
from exportlint.findings import Mode
from exportlint.verify.linting import Linted
from exportlint.verify.results import Failure, Frame, ModelClass, Run

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
