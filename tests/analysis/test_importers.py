"""A file is looked at together with the files that import it: as in a run over everything."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exportlint import importers as module
from exportlint.analysis.project import Project
from exportlint.config import Configuration, Layer
from exportlint.importers import Importers, importers
from exportlint.linter import LintResult, Role, Task, lint
from exportlint.source import discover, read
from exportlint.syntax.leading_classes import leading_classes
from tests.analysis.test_project import relative, write
from tests.sampling import first_of_each

Place = tuple[str, int, str]

FLAG = "def is_dark(t):\n    return t.mean() < 0.5\n"
CHECK = "def check(t):\n    assert t.any()\n    return t\n"
BLOCK = "from torch import nn\n\n\nclass Block(nn.Module):\n    def forward(self, x):\n        return x.sum() > 0\n"
BASE = (
    "from torch import nn\n\n\nclass Base(nn.Module):\n    def forward(self, x):\n        return self.head(x.relu())\n"
    "\n    def head(self, x):\n        return x\n"
)


def net(imports: str, test: str = "is_dark(x)", init: str = "", base: str = "nn.Module", name: str = "forward") -> str:
    """A module whose row 7 branches on `test`."""
    made = f"    def __init__(self):\n        super().__init__()\n        {init}\n\n" if init else ""
    return (
        f"{imports}\nfrom torch import nn\n\n\nclass Net({base}):\n    def {name}(self, x):\n        if {test}:\n"
        f"            x = x * 2\n        return x\n\n{made}"
    )


BRANCH = ("net.py", 7, "EXP101")

PROJECTS: dict[str, tuple[dict[str, str], str, list[Place]]] = {
    "a helper": ({"ops.py": FLAG, "net.py": net("from ops import is_dark")}, "ops.py", [BRANCH]),
    "a helper under another name": (
        {"ops.py": FLAG, "net.py": net("import ops as o", "o.is_dark(x)")}, "ops.py", [BRANCH],
    ),
    "a helper that finds something itself": (
        {"ops.py": CHECK, "net.py": net("from ops import check", "check(x).dim() == 1")},
        "ops.py", [("ops.py", 2, "EXP104")],
    ),
    "a file that nothing imports": ({"ops.py": FLAG, "net.py": net("import math", "x.any()")}, "ops.py", []),
    "an import without a use": ({"ops.py": FLAG, "net.py": net("from ops import is_dark", "x.any()")}, "ops.py", []),
    "through a re-export": (
        {"lib/__init__.py": "from .ops import is_dark\n", "lib/ops.py": FLAG, "net.py": net("from lib import is_dark")},
        "lib/ops.py", [BRANCH],
    ),
    "through two stars": (
        {
            "lib/__init__.py": "from .all import *\n", "lib/all.py": "from .ops import *\n", "lib/ops.py": FLAG,
            "net.py": net("from lib import is_dark"),
        },
        "lib/ops.py", [BRANCH],
    ),
    "under another name of the re-export": (
        {
            "lib/__init__.py": "from .ops import (  # all of it\n    is_dark as dark,\n)\n", "lib/ops.py": FLAG,
            "net.py": net("import lib", "lib.dark(x)"),
        },
        "lib/ops.py", [BRANCH],
    ),
    "by its dotted name": (
        {"lib/__init__.py": "", "lib/ops.py": FLAG, "net.py": net("import lib.ops", "lib.ops.is_dark(x)")},
        "lib/ops.py", [BRANCH],
    ),
    "through another helper": (
        {
            "ops.py": FLAG, "more.py": "from ops import is_dark\n\n\ndef dark(t):\n    return is_dark(t)\n",
            "net.py": net("from more import dark", "dark(x)"),
        },
        "ops.py", [BRANCH],
    ),
    "in a function": (
        {
            "ops.py": FLAG, "more.py": "def dark(t):\n    from ops import is_dark\n    return is_dark(t)\n",
            "net.py": net("from more import dark", "dark(x)"),
        },
        "ops.py", [BRANCH],
    ),
    "a relative import": (
        {
            "lib/__init__.py": "", "lib/a/__init__.py": "", "lib/a/net.py": net("from ..ops import is_dark"),
            "lib/ops.py": FLAG,
        },
        "lib/ops.py", [("lib/a/net.py", 7, "EXP101")],
    ),
    "a relative import of a module": (
        {"lib/__init__.py": "", "lib/net.py": net("from . import ops", "ops.is_dark(x)"), "lib/ops.py": FLAG},
        "lib/ops.py", [("lib/net.py", 7, "EXP101")],
    ),
    "a submodule": (
        {"block.py": BLOCK, "net.py": net("from block import Block", "self.block(x)", "self.block = Block()")},
        "block.py", [BRANCH],
    ),
    "a base class": (
        {"base.py": BASE, "net.py": net("from base import Base", "x.any()", base="Base", name="head")},
        "base.py", [BRANCH],
    ),
    "a finding in a third file": (
        {
            "ops.py": "def twice(t):\n    return t * 2\n", "checks.py": CHECK,
            "net.py": net("from ops import twice; from checks import check", "check(twice(x)).dim() == 1"),
        },
        "ops.py", [("checks.py", 2, "EXP104")],
    ),
    "a namespace package": (
        {"acme/ops/dark.py": FLAG, "net.py": net("from acme.ops.dark import is_dark")}, "acme/ops/dark.py", [BRANCH],
    ),
    "a namespace package of two distributions": (
        {
            "pkgs/core/src/acme/core/__init__.py": "", "pkgs/core/src/acme/core/ops.py": FLAG,
            "pkgs/vision/src/acme/vision/__init__.py": "",
            "pkgs/vision/src/acme/vision/net.py": net("from acme.core.ops import is_dark"),
        },
        "pkgs/core/src/acme/core/ops.py", [("pkgs/vision/src/acme/vision/net.py", 7, "EXP101")],
    ),
    "an ignored finding": (
        {"ops.py": FLAG, "net.py": "# exportlint: file-ignore[EXP101]\n" + net("from ops import is_dark")},
        "ops.py", [],
    ),
    "a suppression that another file needs": (
        {
            "ops.py": CHECK.replace("any()", "any()  # exportlint: ignore[EXP104]"),
            "net.py": net("from ops import check", "check(x).dim() == 1"),
        },
        "ops.py", [],
    ),
    "an unused suppression elsewhere": (
        {"ops.py": FLAG, "net.py": net("from ops import is_dark") + "x = 1  # exportlint: ignore\n"},
        "ops.py", [BRANCH],
    ),
    "through names of the importer": (
        {
            "ops.py": FLAG,
            "net.py": net("from ops import is_dark", "TESTS['dark'](x)").replace(
                "\n\n\nclass", "\n\ndark = is_dark\nTESTS = {'dark': lambda t: dark(t)}\n\n\nclass", 1
            ),
        },
        "ops.py", [("net.py", 10, "EXP101")],
    ),
    "from one of two classes, of which the other has a shorter trail": (
        {
            "ops.py": CHECK, "more.py": "from ops import check\n\n\ndef more(t):\n    return check(t)\n",
            "net.py": f"from ops import check\n{net('from more import more', 'more(x).dim() == 1')}\n\n"
            "class Other(nn.Module):\n    def forward(self, x):\n        return check(x)\n",
        },
        "more.py", [],
    ),
    "what is excluded": ({"ops.py": FLAG, "build/net.py": net("from ops import is_dark")}, "ops.py", []),
    "what git ignores": (
        {"ops.py": FLAG, "net.py": net("from ops import is_dark"), ".gitignore": "net.py\n"}, "ops.py", [],
    ),
}  # fmt: skip


def make(root: Path, files: dict[str, str]) -> None:
    """A project: files in a repository."""
    write(root, {".git/HEAD": "ref: refs/heads/main\n", **files})


def tasks(root: Path) -> list[Task]:
    """What a run over everything looks at."""
    configuration = _configuration(root)
    found = discover([root], lambda folder: configuration.for_directory(folder).discovery)
    return [Task(path, configuration.for_file(path)) for path in found.files]


def alone(root: Path, *names: str) -> tuple[LintResult, Importers]:
    """What a run over some files finds, and what it looks at besides."""
    configuration = _configuration(root)
    given = [Task(root / name, configuration.for_file(root / name)) for name in names]
    beside = importers(given, [task.path for task in given], configuration.for_directory)
    return lint([*given, *beside.tasks]), beside


def _configuration(root: Path) -> Configuration:
    return Configuration(root, isolated=True, overrides=[Layer(root, {"torch-version": (2, 13)})])


def places(result: LintResult, root: Path) -> list[Place]:
    return [(relative(f.filename, root), f.span.start.row, f.code) for f in result.findings]


def restricted(root: Path, *names: str) -> list[Place]:
    """What a run over everything says about some files: what is in them, and what they lead to."""
    named = {str(root / name) for name in names}
    found = [f for f in lint(tasks(root)).findings if f.filename in named or (f.through & named and f.code[3] != "0")]
    return [(relative(f.filename, root), f.span.start.row, f.code) for f in found]


@pytest.mark.parametrize("project", PROJECTS)
def test_what_a_file_leads_to_is_told(project: str, tmp_path: Path) -> None:
    files, name, expected = PROJECTS[project]
    make(tmp_path, files)
    assert places(alone(tmp_path, name)[0], tmp_path) == expected


CLASSES = """
from ops import a, b
from typing import Protocol
PART = a
def helper(): return PART
def other(): return b
class Own: x = PART
class ByFunction:
    def forward(self): return helper()
class ByBase(ByFunction): pass
class ByAnnotation:
    def forward(self, x: "list[Own]"): return x
class ByName:
    parts = ["ByBase"]
class Unrelated:
    "Has nothing of a, Own or helper."
    def forward(self): return other()
REGISTRY.add(PART)
class OfRegistry:
    def forward(self): return REGISTRY
@table.add
class InTable(Own): pass
table = {}
class OfTable:
    def forward(self): return table["InTable"]
if True:
    class Nested:
        class Inner: y = PART
__all__ = ["a", "Unrelated"]
"""


def test_classes_of_an_importer_that_do_not_lead_to_the_linted_files_are_not_run(tmp_path: Path) -> None:
    write(tmp_path, {"net.py": CLASSES})
    found = Project().add(read(tmp_path / "net.py"))
    assert {cls.qualname for cls in found.classes} - {cls.qualname for cls in leading_classes(found, {"a"})} == {
        "Unrelated"
    }
    assert {cls.qualname for cls in leading_classes(found, {"b"})} == {"Unrelated"}
    make(tmp_path, {"ops.py": FLAG, "base.py": "", "net.py": net("from ops import is_dark\nfrom base import *")})
    beside = alone(tmp_path, "ops.py")[1]
    assert [task.leads_by for task in beside.tasks if task.role is Role.IMPORTER] == [frozenset({"is_dark"})]


@pytest.mark.parametrize("project", PROJECTS)
def test_each_file_alone_is_as_in_a_run_over_everything(project: str, tmp_path: Path) -> None:
    files = PROJECTS[project][0]
    make(tmp_path, files)
    for task in tasks(tmp_path):
        name = relative(str(task.path), tmp_path)
        assert places(alone(tmp_path, name)[0], tmp_path) == restricted(tmp_path, name), name


FOLDERS = ("", "lib", "lib/sub", "space/inner", "pkgs/far/src/far")


@st.composite
def projects(draw: st.DrawFn) -> dict[str, str]:
    """Modules in packages and namespace packages; each may call a function of an earlier one, and branch on it."""
    files = {"lib/__init__.py": "", "lib/sub/__init__.py": "", "pkgs/far/src/far/__init__.py": ""}
    paths: list[str] = []
    for number in range(draw(st.integers(2, 6))):
        path = f"{draw(st.sampled_from(FOLDERS))}/m{number}.py".lstrip("/")
        statement, call = "", "t"
        is_user = draw(st.integers(0, 4)) > 0
        if paths and is_user:
            earlier = paths[draw(st.integers(0, len(paths) - 1))]
            ways = _imports(path, earlier, files)
            statement, call = ways[draw(st.integers(0, len(ways) - 1))]
            call += "(t)"
        files[path] = (
            f"from torch import nn\n{statement}\n\n\ndef {_function(path)}(t):\n    return {call}\n\n\n"
            f"class Net{number}(nn.Module):\n    def forward(self, t):\n        if {call}.any():\n"
            "            return t\n        return t * 2\n"
        )
        if "lib" in path and draw(st.booleans()):
            files["lib/__init__.py"] += f"from {_name(path)} import {_function(path)} as g{number}\n"
        if "lib/sub" in path and draw(st.booleans()):
            files["lib/sub/__init__.py"] += f"from .m{number} import *\n"
        paths.append(path)
    return files


def _imports(path: str, target: str, files: dict[str, str]) -> list[tuple[str, str]]:
    """The ways to import the function of a module, each with what the function is called then."""
    name, function, number = _name(target), _function(target), PurePosixPath(target).stem[1:]
    package, _, last = name.rpartition(".")
    found = [
        (f"from {name} import {function}", function),
        (f"from {name} import {function} as other", "other"),
        (f"import {name}", f"{name}.{function}"),
        (f"import {name} as module", f"module.{function}"),
        (f"from {name} import *", function),
    ]
    if package:
        found.append((f"from {package} import {last}", f"{last}.{function}"))
        found.append((f"import {package}", f"{name}.{function}"))
    if f" as g{number}\n" in files["lib/__init__.py"]:
        found += [(f"from lib import g{number}", f"g{number}"), ("import lib", f"lib.g{number}")]
    if f".m{number} import *" in files["lib/sub/__init__.py"]:
        found += [(f"from lib.sub import {function}", function), ("from lib.sub import *", function)]
    if path.startswith("lib/") and target.startswith("lib/"):
        dots = "." * (len(PurePosixPath(path).parts) - 1)
        found.append((f"from {dots}{name.removeprefix('lib.')} import {function}", function))
    return found


def _name(path: str) -> str:
    return path.removeprefix("pkgs/far/src/").removesuffix(".py").replace("/", ".")


def _function(path: str) -> str:
    return f"f{PurePosixPath(path).stem[1:]}"


@pytest.mark.parametrize("examples", first_of_each([3, 40], lambda _: "all"))
def test_any_file_of_any_project_is_as_in_a_run_over_everything(examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(projects())
    def check(files: dict[str, str]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            make(root, files)
            for name in files:
                assert places(alone(root, name)[0], root) == restricted(root, name), name
            together = list(files)[:4]
            assert places(alone(root, *together)[0], root) == restricted(root, *together)

    check()


def test_the_closest_importers_come_first_and_the_rest_is_counted(tmp_path: Path) -> None:
    make(tmp_path, {"ops.py": FLAG, "more.py": "from ops import is_dark\n", "a.py": net("from more import is_dark")})
    write(tmp_path, {f"net{n}.py": net("from ops import is_dark") for n in range(4)})
    configuration = _configuration(tmp_path)
    ops = Task(tmp_path / "ops.py", configuration.for_file(tmp_path / "ops.py"))
    size = (tmp_path / "net0.py").stat().st_size
    for limit, count in ((0, 1), (size, 1), (2 * size, 2), (100 * size, 5)):
        beside = importers([ops], [ops.path], configuration.for_directory, limit)
        chosen = [task.path.name for task in beside.tasks if task.role is Role.IMPORTER]
        assert chosen == ["net0.py", "net1.py", "net2.py", "net3.py", "a.py"][:count]
        assert (beside.count, beside.of, beside.is_complete) == (count, 5, True)


def test_without_a_project_the_working_directory_is_searched(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": FLAG, "lib/__init__.py": "", "lib/more.py": FLAG})
    write(tmp_path, {"net.py": net("from ops import is_dark"), "a/net.py": net("from lib.more import is_dark")})
    assert places(alone(tmp_path, "ops.py")[0], tmp_path) == [BRANCH]
    assert places(alone(tmp_path, "lib/more.py")[0], tmp_path) == [("a/net.py", 7, "EXP101")]


def test_outside_of_the_working_directory_it_is_the_folder_of_the_package(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"here/x.py": "", "lib/__init__.py": "", "lib/ops.py": FLAG, "net.py": net("from lib.ops import is_dark")},
    )
    configuration = _configuration(tmp_path / "here")
    ops = Task(tmp_path / "lib/ops.py", configuration.for_file(tmp_path / "lib/ops.py"))
    beside = importers([ops], [ops.path], configuration.for_directory)
    assert [task.path.name for task in beside.tasks] == ["net.py"]


@pytest.mark.parametrize("home", ["", "x"])
def test_the_home_of_the_user_is_not_searched(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {"ops.py": FLAG, "net.py": net("from ops import is_dark")})
    monkeypatch.setenv("HOME", str(tmp_path / home))
    assert alone(tmp_path, "ops.py")[1] == Importers()


def test_what_is_too_large_is_searched_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {"ops.py": FLAG, "net.py": net("from ops import is_dark"), **{f"d/{n}.py": "" for n in range(9)}})
    monkeypatch.setattr(module, "MAX_ENTRIES", 5)
    beside = alone(tmp_path, "ops.py")[1]
    assert (beside.of, beside.is_complete) == (1, False)
    monkeypatch.setattr(module, "MAX_ENTRIES", 100)
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    assert not alone(tmp_path, "ops.py")[1].is_complete


def test_a_configuration_elsewhere_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    make(tmp_path, {"ops.py": FLAG, "broken/net.py": net("from ops import is_dark"), "broken/exportlint.toml": "x"})
    configuration = Configuration(tmp_path)
    ops = Task(tmp_path / "ops.py", configuration.for_file(tmp_path / "ops.py"))
    assert "exportlint.toml" in str(importers([ops], [ops.path], configuration.for_directory).problem)
