"""The records of functions of Python and of other libraries: one for each, of functions that exist."""

from __future__ import annotations

import inspect
import math
import operator
import sys
from contextlib import suppress
from pathlib import Path
from pydoc import locate

import pytest

from exportlint.analysis.eval.with_and_try import LOCKS
from exportlint.analysis.library_functions import LibraryFunction, find, functions, records
from exportlint.analysis.models.operator import BINARY, COMPARES
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint

OF_OTHER_LOGGERS = {"info_once", "warning_once", "warn_once", "warning_advice"}
"""Methods of the loggers of `transformers` and the like, which count as `logging.Logger`."""

SAMPLES = [(0.5,), (2.0,), (3.5, 2.0), (4,), (4, 2), ([1.5, 2.0],), ([1.0, 2.0], [2.0, 3.0])]


def exists(name: str) -> bool:
    owner, _, short = name.rpartition(".")
    if owner in LOCKS:  # functions, or classes that take over the methods of what they wrap
        return hasattr(locate(owner)(), short)  # type: ignore[operator]
    return locate(name) is not None or inspect.getattr_static(locate(owner), short, None) is not None


def is_installed(record: LibraryFunction) -> bool:
    """Whether Python or what the tests need has the library, and the class as it is there has the method."""
    library, _, short = record.name.rpartition(".")
    root = record.name.partition(".")[0]
    return (root in sys.stdlib_module_names or root in {"builtins", "numpy", "torch"}) and not (
        library == "logging.Logger" and short in OF_OTHER_LOGGERS
    )


@pytest.mark.parametrize(
    "record", [record for record in records() if is_installed(record)], ids=lambda record: record.name
)
def test_a_record_is_of_something_that_exists(record: LibraryFunction) -> None:
    if record.name.startswith(("numpy.", "torch.")):
        pytest.importorskip(record.name.partition(".")[0])
    assert exists(record.name)


def test_a_function_has_one_record() -> None:
    with pytest.raises(ValueError, match=r"math\.floor has two records"):
        functions("math.floor", effect="act")


def test_what_a_record_leaves_open_stands_in_that_of_its_library() -> None:
    assert find("math.tan").gives == "float"
    assert find("math.modf").gives is None
    assert find("numpy.random.uniform").source == "random"
    assert find("time.strptime").source is None
    assert find("nothing.known") == LibraryFunction("nothing.known")


@pytest.mark.parametrize("name", [name for name in dir(math) if callable(getattr(math, name)) and name[0] != "_"])
def test_the_kind_of_number_is_what_math_gives(name: str) -> None:
    kinds = set()
    for sample in SAMPLES:
        with suppress(TypeError, ValueError, OverflowError):
            kinds.add(type(getattr(math, name)(*sample)).__name__)
    gives = find(f"math.{name}").gives
    assert kinds
    assert kinds == {gives} or gives is None


MODEL = """\
import torch
{0}


class Model(torch.nn.Module):
    def forward(self, x):
        return {1}
"""


def findings(source: str, folder: Path) -> list[tuple[str, str, str]]:
    """Codes, severities and messages, under strict mode, where most is refused."""
    settings = combine([Layer(folder, {"torch-version": (2, 13), "mode": "strict"})], folder)
    found = lint([Task(folder / "model.py", settings, data=source.encode())]).findings
    return sorted((finding.code, finding.severity.name, finding.message) for finding in found)


@pytest.mark.parametrize("alias", ["from builtins import {0} as f", "import builtins\n\nf = builtins.{0}"])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("min", "f(x)"),
        ("all", "f([x > 0])"),
        ("round", "f(x.sum())"),
        ("reversed", "tuple(f([x, x.sum()]))[1].item() + int(x.sum())"),
    ],
)
def test_a_builtin_is_known_by_any_name(alias: str, name: str, call: str, tmp_path: Path) -> None:
    """What a call does depends on what is called, not on how it is spelled there."""
    plain = findings(MODEL.format("", call.replace("f(", f"{name}(")), tmp_path)
    aliased = findings(MODEL.format(alias.format(name), call), tmp_path)
    assert aliased == plain != []


def test_the_operators_are_those_of_python() -> None:
    assert [name for name in (*BINARY, *COMPARES) if not hasattr(operator, name)] == []
