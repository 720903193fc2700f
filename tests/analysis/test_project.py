"""Files that import each other: what happens to one of them does not spoil the findings in another."""

from __future__ import annotations

import ast
import gc
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from exportlint import source, workspace
from exportlint.analysis.project import Definition, Project
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint
from exportlint.source import SourceFile
from exportlint.syntax.definitions import Module

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


UNKNOWN = "from elsewhere import run\n\n\ndef total(t):\n    return run(t)\n"
STUB = "from torch import Tensor\n\ndef total(t: Tensor) -> Tensor: ...\n"


@pytest.mark.parametrize(
    ("files", "is_tensor"),
    [
        ({"helpers.pyi": STUB}, True),
        ({"helpers/__init__.pyi": STUB}, True),
        ({"src/helpers.pyi": STUB}, True),
        ({"helpers.pyi": STUB.replace("-> Tensor", "-> int")}, False),
        ({"helpers.pyi": STUB.replace(" -> Tensor", "")}, False),
        ({"helpers.pyi": "def total(t:\n"}, False),
        ({"helpers.pyi": STUB + "def total(t: int) -> Tensor: ...\n"}, True),
        ({"helpers.pyi": STUB + "def total(t: int) -> int: ...\n"}, False),
        (
            {"helpers.pyi": STUB, "helpers.py": UNKNOWN},
            True,
        ),
        ({"helpers.pyi": STUB, "helpers.py": ROWS}, False),
        ({"helpers.pyi": STUB.replace("-> Tensor", "-> int"), "helpers.py": TOTAL}, True),
        (
            {
                "helpers.pyi": STUB,
                "helpers.py": "from elsewhere import run\n\n\ndef total(t) -> int:\n    return run(t)\n",
            },
            False,
        ),
        (
            {
                "helpers.pyi": "from alias import Image\n\ndef total(t: Image) -> Image: ...\n",
                "alias.py": "from torch import Tensor\n\nImage = Tensor\n",
                "helpers.py": UNKNOWN,
            },
            True,
        ),
    ],
    ids=repr,
)
def test_a_stub_is_believed_where_the_module_says_nothing(
    files: dict[str, str], is_tensor: bool, tmp_path: Path
) -> None:
    write(tmp_path, {"model.py": MODEL, **files})
    assert found(tmp_path, "model.py") == [OWN, *([THROUGH_HELPERS] if is_tensor else [])]


def test_a_stub_annotates_the_inputs_of_a_module(tmp_path: Path) -> None:
    model = (
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x, limit):\n"
        "        return x if limit > 0 else -x\n"
    )
    stub = (
        "from torch import Tensor, nn\n\nclass Net(nn.Module):\n    def forward(self, x: Tensor, limit: Tensor): ...\n"
    )
    write(tmp_path, {"net.py": model})
    assert found(tmp_path, "net.py") == []
    write(tmp_path, {"net.pyi": stub})
    assert [row for _, row, _ in found(tmp_path, "net.py")] == [6]


def test_a_trail_leads_to_the_stub(tmp_path: Path) -> None:
    write(tmp_path, {"model.py": MODEL, "helpers.pyi": STUB})
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    (finding,) = (f for f in lint([Task(tmp_path / "model.py", settings)]).findings if f.span.start.row == 9)
    step = finding.trail[0]
    assert (Path(step.filename).name, step.span.start.row) == ("helpers.pyi", 3)
    assert step.message == "`total` is annotated to return `Tensor`"


CORE = "pkgs/core/src/acme/core"
VISION = "pkgs/vision/src/acme/vision"


@pytest.mark.parametrize(
    ("files", "name", "options"),
    [
        ({f"{CORE}/__init__.py": "", f"{CORE}/helpers.py": TOTAL, f"{VISION}/__init__.py": ""}, VISION, {}),
        ({f"{CORE}/helpers.py": TOTAL}, VISION, {}),
        ({f"{CORE}/__init__.py": "", f"{CORE}/helpers.py": TOTAL}, "tests", {}),
        (
            {"acme/core/__init__.py": "", "acme/core/helpers.py": TOTAL, "acme/vision/__init__.py": ""},
            "acme/vision",
            {},
        ),
        ({"acme/core/helpers.py": TOTAL}, "tools/deep/er", {}),
        ({"libs/one/pyproject.toml": "", "libs/one/acme/core/helpers.py": TOTAL}, "libs/two", {}),
        ({"libs/one/lib/acme/core/helpers.py": TOTAL}, "libs/two", {"src": ("libs/*/lib",)}),
        ({"libs/one/lib/acme/core/helpers.py": TOTAL}, "libs/two", {"src": ("**/lib",)}),
    ],
    ids=repr,
)
def test_imports_start_where_the_distributions_of_the_project_do(
    files: dict[str, str], name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    model = MODEL.replace("from helpers", "from acme.core.helpers")
    write(tmp_path, {".git/HEAD": "", f"{name}/model.py": model, **files})
    assert [row for _, row, _ in found(tmp_path, f"{name}/model.py", **options)] == [7, 9]


@pytest.mark.parametrize(
    ("statement", "files"),
    [
        ("from ..core.helpers import total", {f"{CORE}/__init__.py": "", f"{CORE}/helpers.py": TOTAL}),
        ("from ..core.helpers import total", {f"{CORE}/helpers.py": TOTAL}),
    ],
)
def test_relative_imports_in_a_namespace_package(statement: str, files: dict[str, str], tmp_path: Path) -> None:
    model = MODEL.replace("from helpers import total", statement)
    write(tmp_path, {".git/HEAD": "", f"{VISION}/__init__.py": "", f"{VISION}/model.py": model, **files})
    assert [row for _, row, _ in found(tmp_path, f"{VISION}/model.py")] == [7, 9]


@pytest.mark.parametrize("folder", ["acme", "copy", "code", "test/copy"])
@pytest.mark.parametrize("is_package", [True, False])
def test_a_folder_may_have_the_name_of_a_library_of_python(folder: str, is_package: bool, tmp_path: Path) -> None:
    inits = {f"{folder}/nets/__init__.py": ""} if is_package else {}
    model = MODEL.replace("from helpers", "from .helpers")
    write(tmp_path, {".git/HEAD": "", f"{folder}/nets/helpers.py": TOTAL, f"{folder}/nets/model.py": model, **inits})
    assert [row for _, row, _ in found(tmp_path, f"{folder}/nets/model.py")] == [7, 9]


def test_scripts_beside_a_distribution_are_not_imported_by_others(tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", "one/pyproject.toml": "", "one/helpers.py": TOTAL, "two/model.py": MODEL})
    assert [row for _, row, _ in found(tmp_path, "two/model.py")] == [7]


UNRESOLVED = {
    "a module": ({"acme/__init__.py": ""}, "from acme.core.ops import f", ["acme.core.ops"]),
    "a submodule": ({"acme/__init__.py": ""}, "import acme.ops", ["acme.ops"]),
    "a relative one": ({"acme/__init__.py": ""}, "from .ops import f", ["acme.ops"]),
    "a package that imports do not reach": ({"lib/py/other/__init__.py": ""}, "import other.ops", ["other.ops"]),
    "in a function": ({"acme/__init__.py": ""}, "def f():\n    import acme.ops", ["acme.ops"]),
    "third party": ({"acme/__init__.py": ""}, "import einops, torchvision.ops\nfrom numpy.linalg import norm", []),
    "the standard library": ({"lib/json/__init__.py": ""}, "import json.decoder", []),
    "another distribution of a namespace": ({"acme/core/__init__.py": ""}, "import acme.google.cloud", []),
    "a data set beside a library of that name": ({"datasets/make.py": ""}, "from datasets import load_dataset", []),
    "a compiled module": ({"acme/__init__.py": "", "acme/_C.cpython-311.so": ""}, "from acme._C import f", []),
    "a stub": ({"acme/__init__.py": "", "acme/_C.pyi": ""}, "import acme._C", []),
    "what may be missing": (
        {"acme/__init__.py": ""},
        "try:\n    import acme.fast\nexcept ImportError:\n    import acme.slow", ["acme.slow"],
    ),
    "what only type checkers see": (
        {"acme/__init__.py": ""}, "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import acme.types", [],
    ),
    "a name that a package defines": ({"acme/__init__.py": "f = 1"}, "from acme import f, g", []),
    "what is there": ({"acme/__init__.py": "", "acme/ops.py": ""}, "import acme.ops\nfrom .ops import f", []),
}  # fmt: skip


@pytest.mark.parametrize("case", UNRESOLVED)
def test_imports_of_the_project_that_lead_nowhere_are_known(case: str, tmp_path: Path) -> None:
    files, statement, names = UNRESOLVED[case]
    write(tmp_path, {".git/HEAD": "", "acme/net.py": statement, **files})
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    result = lint([Task(tmp_path / "acme/net.py", settings)])
    assert [one.name for one in result.unresolved] == names
    assert all(one.filename == str(tmp_path / "acme/net.py") for one in result.unresolved)


def test_each_file_is_read_and_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where packages have settings of their own, and where a file is linted that others have imported."""
    read: Counter[str] = Counter()
    parsed: Counter[str] = Counter()

    def counting_read(path: Path, filename: str | None = None) -> SourceFile:
        read[path.name] += 1
        return source.read(path, filename)

    def counting_parse(file: SourceFile) -> ast.Module:
        parsed[file.path.name] += 1
        return source.parse(file)

    monkeypatch.setattr(workspace, "read", counting_read)
    monkeypatch.setattr(workspace, "parse", counting_parse)
    write(tmp_path, {"lib/helpers.py": TOTAL, "a/one.py": MODEL, "a/two.py": MODEL, "b/three.py": MODEL})
    tasks = [
        Task(tmp_path / name, combine([Layer(tmp_path, {"torch-version": (2, 13), "src": src})], tmp_path))
        for name, src in (
            ("a/one.py", ("lib",)), ("a/two.py", ("lib",)), ("b/three.py", ("b", "lib")), ("lib/helpers.py", ("lib",)),
        )
    ]  # fmt: skip
    assert [f.span.start.row for f in lint(tasks).findings] == [7, 9] * 3
    assert read == parsed == {"one.py": 1, "two.py": 1, "three.py": 1, "helpers.py": 1}


@pytest.mark.parametrize(
    "part",
    [
        TOTAL,
        "from inner import total\nimport os\n",
        "from inner import (\n    total\n)\nimport os\n",
        "import inner as total_of\ntotal = total_of.total\n",
    ],
    ids=["defined", "imported last", "imported in parentheses", "assigned"],
)
def test_a_name_that_a_star_import_brings(part: str, tmp_path: Path) -> None:
    write(tmp_path, {"model.py": MODEL, "helpers.py": "from part import *\n", "part.py": part, "inner.py": TOTAL})
    assert found(tmp_path, "model.py") == [OWN, THROUGH_HELPERS]


def test_a_name_that_was_looked_up_is_of_the_module_that_is_read(tmp_path: Path) -> None:
    """What star imports brought is known no longer than the modules that they lead to."""
    write(tmp_path, {"model.py": MODEL, "helpers.py": "from part import *\n", "part.py": TOTAL})
    project, model = Project(), source.read(tmp_path / "model.py")
    project.add(source.read(tmp_path / "part.py"))
    project.resolve("helpers.total", project.add(model))
    project.trim(2)  # `part.py` was read first
    found = project.resolve("helpers.total", project.add(model))
    assert isinstance(found, Definition)
    assert found.module is project.module(str(tmp_path / "part.py"))


def test_a_text_is_parsed_in_part_after_one_that_does_not_parse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def parse(file: SourceFile) -> ast.Module:
        parsed.append(file.text)
        return source.parse(file)

    monkeypatch.setattr(workspace, "parse", parse)
    path, broken, mended = tmp_path / "model.py", MODEL + "x = (\n", MODEL + "x = ()\n"
    write(tmp_path, {"model.py": MODEL, "helpers.py": TOTAL})
    task = Task(path, combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path))
    seen = workspace.Workspace({})
    for text in (MODEL, broken, mended):
        seen.hold(path, text.encode())
        findings = seen.lint(task).findings
    assert [f.span.start.row for f in findings] == [7, 9]
    assert [text for text in parsed if text != TOTAL] == [MODEL]


@pytest.mark.parametrize("keeps_results", [False, True])
def test_what_is_forgotten_is_freed_at_once_where_no_results_are_kept(
    keeps_results: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The garbage collector, which walks all trees, has nothing to do for it; kept results go on holding theirs."""
    files: dict[str, str | bytes] = {f"model_{n}.py": MODEL.replace("helpers", "shared") for n in range(8)}
    write(tmp_path, {**files, "shared.py": TOTAL})
    monkeypatch.setattr(Project.trim, "__defaults__", (400, 2 * len(MODEL)))
    trees: list[weakref.ref[ast.Module]] = []

    def remembered(file: SourceFile) -> ast.Module:
        trees.append(weakref.ref(tree := source.parse(file)))
        return tree

    monkeypatch.setattr(workspace, "parse", remembered)
    looked_at = workspace.Workspace({}, keeps_results=keeps_results)
    settings = combine([Layer(tmp_path, {})], tmp_path)
    gc.disable()
    try:
        for name in files:
            assert looked_at.lint(Task(tmp_path / name, settings)).findings
        left = sum(tree() is not None for tree in trees)
    finally:
        gc.enable()
    assert (left > 5) == keeps_results


@pytest.mark.thorough
def test_files_that_nobody_needed_for_longest_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the number of files, and what all of them import is parsed once."""
    files: dict[str, str | bytes] = {f"model_{n}.py": MODEL.replace("helpers", "shared") for n in range(20)}
    write(tmp_path, {**files, "shared.py": TOTAL})
    parsed: Counter[str] = Counter()

    def counted(file: SourceFile) -> ast.Module:
        parsed[file.path.name] += 1
        return source.parse(file)

    monkeypatch.setattr(workspace, "parse", counted)
    monkeypatch.setattr(Project.trim, "__defaults__", (400, 3 * len(files["model_0.py"])))

    def alive() -> int:
        return sum(isinstance(o, Module) and o.path.parent == tmp_path for o in gc.get_objects())

    looked_at = workspace.Workspace({})
    settings = combine([Layer(tmp_path, {})], tmp_path)
    for name in files:
        assert looked_at.lint(Task(tmp_path / name, settings)).findings
        assert len(looked_at._trees) <= 5
        assert len(looked_at._sources) <= 5
        assert alive() <= 10
    assert set(parsed.values()) == {1}
