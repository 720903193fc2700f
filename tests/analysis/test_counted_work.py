"""What is not worked out twice, or not at all: asserted in functions that are run and files that are read."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from exportlint.analysis import custom_op_definitions
from exportlint.analysis.analyze import Interpretation
from exportlint.analysis.domain.values import Value
from exportlint.analysis.eval import function_calls
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.probe import Probe
from exportlint.analysis.eval.snapshots import Snapshot
from exportlint.analysis.facts import Fact
from exportlint.analysis.project import Project
from exportlint.analysis.results import Analysis
from exportlint.check import check_file
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Finding
from exportlint.source import Layout, SourceFile, from_bytes, layout, parse, read
from exportlint.syntax import import_resolver
from exportlint.syntax.definitions import dotted
from exportlint.syntax.import_resolver import Resolver

ROOT = Path("/nowhere")
SERIALIZES = """
from torch import nn
from settings import loaded


class Config:
    def as_dict(self):
        return {"name": self.name}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        found = []
        for value in loaded():
            if isinstance(value, Config):
                value = value.as_dict()
            found.append(value)
        self.found = found

    def forward(self, x):
        return x + len(self.found)
"""
CACHES = """
from torch import nn


class Cache:
    def __init__(self):
        self.parts = []


def fill(cache, x):
    cache.parts.append(x)
    return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls = self.calls + 1
        return fill(Cache(), x)


class Other(Model):
    def forward(self, x):
        return fill(Cache(), x)
"""
PRINTS = """
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        print(x.shape)
        return x
"""


def check(text: str, **settings: object) -> list[Finding]:
    layer = Layer(ROOT, {"mode": "non-strict", "torch-version": (2, 13), **settings})
    return check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), Project(), combine([layer], ROOT))


BUILDS = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.sizes = self.widths(width)

    def widths(self, width):
        return [width, 2 * width]

    def scaled(self, x):
        if x.sum() > 0:
            x = x * 2
        return x

    def forward(self, x):
        return self.scaled(x)
"""

DOCUMENTED = """
from torch import nn


def documented(intro):
    def write(fn):
        return described(fn, intro=intro) if intro else fn

    return write


def registered(fn=None):
    def register(fn):
        return described(fn, "Registered.")

    if fn:
        return register(fn)
    return register


def described(fn, intro):
    lines = [intro, *fn.__doc__.split()]
    fn.__doc__ = " ".join(lines)
    return fn


class Model(nn.Module):
    @documented("Adds.")
    @registered
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x
"""


def count_runs(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """From now on, how often the body of each function is run."""
    runs: Counter[str] = Counter()
    body = function_calls._body

    def counted(inner: Frame, node: ast.FunctionDef) -> Value:
        runs[inner.symbol] += 1
        return body(inner, node)

    monkeypatch.setattr(function_calls, "_body", counted)
    return runs


def test_what_a_test_finds_in_a_loop_is_one_object(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = count_runs(monkeypatch)
    check(SERIALIZES)
    assert runs["Config.as_dict"] == 1


def test_a_later_call_and_other_roots_make_the_same_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = count_runs(monkeypatch)
    assert [finding.name for finding in check(CACHES)] == ["attribute-state"]
    assert runs["Cache.__init__"] == runs["fill"] == 1


def test_a_decorator_that_returns_what_it_is_given_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = count_runs(monkeypatch)
    assert [finding.name for finding in check(DOCUMENTED)] == ["tensor-branch"]
    assert runs["described"] == 0


@pytest.mark.parametrize(("least", "probes"), [("info", 1), ("warning", 0)])
def test_only_fixes_of_what_is_shown_are_worked_out(least: str, probes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Analysis] = []
    probing = Interpretation.probe

    def counted(self: Interpretation, known: Analysis, facts: Iterable[Fact]) -> Probe:
        asked.append(known)
        return probing(self, known, facts)

    monkeypatch.setattr(Interpretation, "probe", counted)
    findings = check(PRINTS, **{"min-severity": least})
    assert [finding.name for finding in findings] == ["side-effect"]
    assert len(asked) == probes


def test_a_fix_asks_without_another_constructor(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = count_runs(monkeypatch)
    assert [finding.fix is not None for finding in check(BUILDS)] == [True]
    assert runs["Model.__init__"] == runs["Model.widths"] == 1
    assert runs["Model.scaled"] == 2


def test_a_file_is_searched_once_for_custom_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = "import torch\nimport operators\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
    call += "        return torch.ops.mine.twice(x)\n"
    (tmp_path / "operators.py").write_text("import torch.library\n")
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(call)
    searched: Counter[str] = Counter()
    searching = custom_op_definitions._read
    monkeypatch.setattr(
        custom_op_definitions, "_read", lambda module: searched.update([module.path.name]) or searching(module)
    )
    project = Project()
    settings = combine([Layer(tmp_path, {"mode": "non-strict", "torch-version": (2, 13)})], tmp_path)
    for name in ("one.py", "two.py"):
        check_file(read(tmp_path / name), project, settings)
    assert searched == {"one.py": 1, "two.py": 1, "operators.py": 1}


@pytest.mark.parametrize(("imports", "is_known", "parsed"), [
    ("from parts import *\n", False, 2),
    ("if True:\n    import parts\n", False, 2),
    ("def lazily():\n    import parts\n", True, 2),
    ("from parts import one\n", True, 4),
])  # fmt: skip
def test_a_library_that_imports_hundreds_of_files_is_not_parsed_for_its_operators(
    imports: str, is_known: bool, parsed: int, tmp_path: Path
) -> None:
    """What more than 200 files register is not known. Imports in functions do not run with the file."""
    (tmp_path / "parts").mkdir()
    names = [f"part{number}" for number in range(250)]
    everything = "" if imports.endswith("one\n") else "".join(f"from .{name} import size\n" for name in names)
    (tmp_path / "parts/__init__.py").write_text(everything)
    for name in ("one", *names):
        (tmp_path / "parts" / f"{name}.py").write_text("size = 3\n")
    (tmp_path / "operators.py").write_text(
        f'{imports}import torch\n\n\n@torch.library.custom_op("mine::twice", mutates_args=())\n'
        "def twice(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
    )
    (tmp_path / "model.py").write_text(
        "import torch\nimport operators\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
        "        return torch.ops.mine.twice(x)\n"
    )
    trees: list[str] = []

    def tree(source: SourceFile) -> ast.Module:
        trees.append(source.path.name)
        return parse(source)

    settings = combine([Layer(tmp_path, {"mode": "non-strict", "torch-version": (2, 13)})], tmp_path)
    findings = check_file(read(tmp_path / "model.py"), Project(tree=tree), settings)
    assert bool(findings) == is_known
    assert len(trees) <= parsed


def test_files_that_cannot_bind_a_name_are_not_parsed(tmp_path: Path) -> None:
    """A package that gathers others with star imports, which gather their parts in the same way."""
    packages = [f"p{n}" for n in range(6)]
    (tmp_path / "models").mkdir()
    (tmp_path / "models/__init__.py").write_text("".join(f"from .{name} import *\n" for name in packages))
    for name in packages:
        (tmp_path / "models" / name).mkdir()
        (tmp_path / "models" / name / "__init__.py").write_text("from .parts import *\nfrom . import parts\n")
        (tmp_path / "models" / name / "parts.py").write_text(f"class Config_{name}:\n    size = 3\n")
    (tmp_path / "model.py").write_text(
        "from torch import nn\nfrom models import Config_p4\n\n\nclass Model(nn.Module):\n"
        "    def __init__(self, config: Config_p4):\n        super().__init__()\n        self.size = config.size\n\n"
        "    def forward(self, x):\n        return x if x.sum() > self.size else -x\n"
    )
    parsed: list[str] = []

    def tree(source: SourceFile) -> ast.Module:
        parsed.append(source.path.relative_to(tmp_path).as_posix())
        return parse(source)

    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    assert [finding.code for finding in check_file(read(tmp_path / "model.py"), Project(tree=tree), settings)]
    assert sorted(parsed) == ["model.py", "models/__init__.py", "models/p4/__init__.py", "models/p4/parts.py"]


def test_a_name_is_looked_up_first_in_the_module_that_it_is_called_after(tmp_path: Path) -> None:
    """Of a package that gathers many others, only one is read, wherever it stands among them."""
    packages = [f"part_{n}" for n in range(1, 40)]
    (tmp_path / "models").mkdir()
    (tmp_path / "models/__init__.py").write_text("".join(f"from .{name} import *\n" for name in packages))
    for n, name in enumerate(packages, 1):
        (tmp_path / "models" / name).mkdir()
        (tmp_path / "models" / name / "__init__.py").write_text("from .config import *\n")
        (tmp_path / "models" / name / "config.py").write_text(f"class Part{n}Config:\n    size = {n}\n")
    (tmp_path / "model.py").write_text(
        "from torch import nn\nfrom models import Part12Config\n\n\nclass Model(nn.Module):\n"
        "    def forward(self, x):\n        return x if x.sum() > Part12Config.size else -x\n"
    )
    loaded: list[str] = []

    def load(path: Path) -> SourceFile:
        loaded.append(path.relative_to(tmp_path).as_posix())
        return read(path)

    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    project = Project(load=load)
    assert [finding.code for finding in check_file(read(tmp_path / "model.py"), project, settings)]
    folder = "models/part_12"
    assert set(loaded) == {"models/__init__.py", f"{folder}/__init__.py", f"{folder}/config.py"}


def test_imports_that_lead_nearby_do_not_search_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "lib/parts.py").write_text("def double(x):\n    return x * 2\n", encoding="utf-8")
    (tmp_path / "lib/model.py").write_text(
        "import math\nfrom torch import nn\nfrom lib.parts import double\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return double(x)\n",
        encoding="utf-8",
    )
    searched: list[Path] = []

    def search(project: Path) -> Layout:
        searched.append(project)
        return layout(project)

    monkeypatch.setattr(import_resolver, "layout", search)
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    check_file(read(tmp_path / "lib/model.py"), Project(), settings)
    assert searched == []
    Resolver().places("elsewhere", (tmp_path / "lib").as_posix())
    assert searched == [tmp_path]


def test_modules_that_take_one_configuration_build_their_parts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = "".join(
        f"class Head{n}(nn.Module):\n    def __init__(self, config: Config):\n        super().__init__()\n"
        "        self.body = Body(config)\n\n    def forward(self, x):\n        return self.body(x)\n\n\n"
        for n in range(8)
    )
    (tmp_path / "model.py").write_text(
        "from torch import nn\n\n\nclass Config:\n    size = 3\n\n\nclass Body(nn.Module):\n"
        "    def __init__(self, config: Config):\n        super().__init__()\n        self.size = config.size\n\n"
        f"    def forward(self, x):\n        return x * self.size\n\n\n{heads}",
        encoding="utf-8",
    )
    runs = count_runs(monkeypatch)
    settings = combine([Layer(tmp_path, {"mode": "non-strict", "torch-version": (2, 13)})], tmp_path)
    assert check_file(read(tmp_path / "model.py"), Project(), settings) == []
    assert runs["Body.__init__"] == 2  # as the module that is exported, and as a part


def test_a_package_that_gathers_a_thousand_files_is_not_parsed(tmp_path: Path) -> None:
    package = tmp_path / "zoo"
    package.mkdir()
    for n in range(50):
        (package / f"part{n}.py").write_text(f"class Part{n}:\n    pass\n", encoding="utf-8")
    stars = "".join(f"from .part{n} import *\n" for n in range(50))
    (package / "__init__.py").write_text(f"from . import tools\n{stars}", encoding="utf-8")
    (package / "tools.py").write_text("def double(x):\n    return x * 2\n", encoding="utf-8")
    (tmp_path / "model.py").write_text(
        "import zoo\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        return zoo.tools.double(x) if zoo.Part40 else zoo.nothing(x)\n",
        encoding="utf-8",
    )
    parsed: list[str] = []

    def tree(source: SourceFile) -> ast.Module:
        parsed.append(source.path.name)
        return parse(source)

    settings = combine([Layer(tmp_path, {"mode": "non-strict", "torch-version": (2, 13)})], tmp_path)
    check_file(read(tmp_path / "model.py"), Project(tree=tree), settings)
    assert sorted(parsed) == ["__init__.py", "model.py", "part40.py", "tools.py"]


def test_a_fix_asks_once_what_a_name_is(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = "".join(f"            y = torch.relu(x + {n})\n            x = torch.sigmoid(y)\n" for n in range(20))
    text = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        f"        if x.sum() > 0:\n{calls}        return x\n"
    )
    asked: Counter[tuple[Snapshot, str]] = Counter()
    value = Snapshot._value

    def counted(self: Snapshot, node: ast.expr) -> Value:
        asked[self, dotted(node) or ""] += 1
        return value(self, node)

    monkeypatch.setattr(Snapshot, "_value", counted)
    assert [finding.name for finding in check(text)] == ["tensor-branch"]
    names = {name: times for (_, name), times in asked.items() if name}
    assert "torch.relu" in names
    assert set(names.values()) == {1}
