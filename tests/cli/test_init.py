"""`exportlint init`: what it writes, what it takes from the project, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.cli.exports_found import Exports, exports_in
from exportlint.cli.requirements import TorchRequirement, torch_requirement
from exportlint.config import Configuration
from exportlint.config.toml import parse
from tests.cli.runner import NET, Run, write
from tests.patience import PATIENCE

EXPORT = """\
import torch
from torch.export import Dim, export as trace

rows = Dim("rows")
shapes = {"x": {0: rows, 2: Dim.AUTO}, "y": (None, Dim.STATIC), "z": None}
program = trace(model, (x, y, z), dynamic_shapes=shapes, strict=True)
"""


def test_a_project_without_pyproject_gets_a_file(root: Path, run: Run) -> None:
    write(root, {"net.py": NET})
    result = run("init")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Wrote exportlint.toml.\n")
    assert "  - repo: https://github.com/exportlint/exportlint\n" in result.out
    assert set((root / "exportlint.toml").read_text().splitlines()) >= {"# dynamic-dims = [0]", '# mode = "strict"'}
    assert run("--output-format", "json").places == [("net.py", 7, "EXP101")]


def test_every_proposal_is_a_setting(root: Path, run: Run) -> None:
    write(root, {"net.py": NET})
    run("init")
    lines = (root / "exportlint.toml").read_text().splitlines()
    active = [line.removeprefix("# ") for line in lines if "=" in line and "`" not in line and "Without" not in line]
    assert len(active) == 6
    (root / "exportlint.toml").write_text("\n".join(active))
    assert Configuration(root).for_directory(root).mode == "strict"


def test_a_pyproject_gets_a_table_at_its_end(root: Path, run: Run) -> None:
    before = b'\xef\xbb\xbf[project]\r\ndependencies = ["torchvision>=0.20", "torch == 2.9.1"]\r\n[x]\r\na = 1'
    (root / "pyproject.toml").write_bytes(before)
    write(root, {"scripts/export.py": EXPORT})
    result = run("init")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Added [tool.exportlint] to pyproject.toml.\n")
    after = (root / "pyproject.toml").read_bytes()
    assert after.startswith(before)
    assert b"\n" not in after[len(before) :].replace(b"\r\n", b"")
    table = parse(after.decode("utf-8-sig"))["tool"]["exportlint"]
    assert table == {"torch-version": "2.9", "mode": "strict", "dynamic-dims": [0, 2]}
    assert b"scripts/export.py:6 passes `strict=True`" in after


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"pyproject.toml": "[tool.exportlint]\n"}, "pyproject.toml"),
        ({"exportlint.toml": "", "pyproject.toml": ""}, "exportlint.toml"),
        ({".exportlint.toml": "train = true\n"}, ".exportlint.toml"),
    ],
)
def test_a_configuration_that_is_there_stays(root: Path, run: Run, files: dict[str, str], named: str) -> None:
    write(root, files)
    result = run("init")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{named} already configures exportlint and is left unchanged.\n")
    assert {path.name: path.read_text() for path in root.iterdir()} == files


def test_a_configuration_above_counts(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"exportlint.toml": "", "sub/net.py": NET})
    monkeypatch.chdir(root / "sub")
    assert run("init").out.startswith(f"{root / 'exportlint.toml'} already configures exportlint")
    assert [path.name for path in (root / "sub").iterdir()] == ["net.py"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[project\n", "not valid TOML"),
        ("tool = { x = 1 }\n", "[tool.exportlint] cannot be appended"),
        ("tool = 1\n", "`tool` must be a table"),
    ],
)
def test_a_pyproject_that_cannot_take_it_stays(root: Path, run: Run, text: str, said: str) -> None:
    write(root, {"pyproject.toml": text})
    result = run("init")
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert said in result.err
    assert (root / "pyproject.toml").read_text() == text


class TestHook:
    def validated(self, root: Path) -> None:
        command = [sys.executable, "-m", "pre_commit", "validate-config", str(root / ".pre-commit-config.yaml")]
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (result.returncode, result.stdout) == (0, "")

    @pytest.mark.parametrize(
        "before",
        [
            None,
            "repos:\n- repo: local\n  hooks: []",
            "fail_fast: true\nrepos:  # ours\n    # first\n    - repo: local\n      hooks: []\n",
        ],
    )
    def test_is_added_to_a_list_of_repositories(self, root: Path, run: Run, before: str | None) -> None:
        pytest.importorskip("pre_commit")
        file = root / ".pre-commit-config.yaml"
        if before is not None:
            file.write_text(before)
        result = run("init", "--pre-commit")
        assert (result.code, "Added the hook `exportlint` to .pre-commit-config.yaml.\n" in result.out) == (0, True)
        assert file.read_text().startswith(before or "repos:\n")
        self.validated(root)
        after = file.read_bytes()
        assert "already has an exportlint hook" in run("init", "--pre-commit").out
        assert file.read_bytes() == after
        assert "pre-commit" not in run("init").out

    @pytest.mark.parametrize("before", ["repos: []\n", "repos:\n- repo: local\nfail_fast: true\n", "", "- a\n", "\xff"])
    def test_is_not_added_where_that_needs_thought(self, root: Path, run: Run, before: str) -> None:
        file = root / ".pre-commit-config.yaml"
        file.write_bytes(before.encode("latin-1"))
        result = run("init", "--pre-commit")
        assert result.code == 2
        assert result.err.splitlines()[-1].endswith("add the hook that `exportlint init` prints")
        assert file.read_bytes() == before.encode("latin-1")


PINNED, RANGE = True, False


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"requirements.txt": "numpy\ntorch==2.9.1+cpu  # ours\n"}, ("requirements.txt", "2.9", PINNED)),
        (
            {"requirements-dev.txt": "torch[opt] ~= 2.7.0 ; python_version > '3.9'"},
            ("requirements-dev.txt", "2.7", PINNED),
        ),
        ({"requirements.txt": "torch~=2.7"}, ("requirements.txt", "2.7", RANGE)),
        ({"requirements.txt": "torch<3,>=1.13"}, ("requirements.txt", "2.4", RANGE)),
        ({"requirements.txt": "torchvision>=2.6\ntorch-geometric==2.6\ntorch\n"}, None),
        (
            {"pyproject.toml": "[project.optional-dependencies]\na = ['torch (>=2.6)']\n"},
            ("pyproject.toml", "2.6", RANGE),
        ),
        (
            {"pyproject.toml": "[dependency-groups]\na = [{include-group = 'b'}, 'torch===2.8']\n"},
            ("pyproject.toml", "2.8", PINNED),
        ),
        ({"pyproject.toml": "[tool.poetry.dependencies]\ntorch = '^2.6'\n"}, ("pyproject.toml", "2.6", RANGE)),
        (
            {"pyproject.toml": "[tool.poetry.group.dev.dependencies]\ntorch = {version = '2.6.0'}\n"},
            ("pyproject.toml", "2.6", PINNED),
        ),
        (
            {"pyproject.toml": "[project]\ndependencies = ['torch>=2.5']\n", "requirements.txt": "torch==2.8.0"},
            ("requirements.txt", "2.8", PINNED),
        ),
        ({"pyproject.toml": "project = 1\n[tool]\npoetry = []\n"}, None),
        ({}, None),
    ],
)
def test_the_torch_that_is_required(root: Path, files: dict[str, str], expected: tuple[str, str, bool] | None) -> None:
    write(root, files)
    found = torch_requirement(root)
    assert (found and (found.file, found.version, found.is_pinned)) == expected
    assert found is None or isinstance(found, TorchRequirement)


@pytest.mark.parametrize(
    ("call", "dims"),
    [
        ("torch.export.export(m, (x,))", ()),
        ("torch.export.export(m, (x,), dynamic_shapes=None)", ()),
        ("torch.export.export(m, (x,), dynamic_shapes=({0: d, 1: None},))", (0,)),
        ("torch.export.export(m, (x,), dynamic_shapes=((None, d),))", (1,)),
        ("torch.export.export(m, (x,), dynamic_shapes={'x': [{3: d}, {2: d}]})", (2, 3)),
        ("torch.onnx.export(m, (x,), dynamic_axes={'x': {0: 'batch', 2: 'rows'}, 'y': [1]})", (0, 1, 2)),
        ("torch.export.export(m, (x,), dynamic_shapes=make())", None),
        ("torch.export.export(m, (x,), **options)", None),
        ("s = {'x': s}; torch.export.export(m, (x,), dynamic_shapes=s)", None),
        ("other.export(m)", None),
    ],
)
def test_the_dimensions_that_vary(root: Path, call: str, dims: tuple[int, ...] | None) -> None:
    write(root, {"e.py": f"import torch\n{call}\n"})
    found = exports_in([root / "e.py"], root)
    assert found.dims == dims
    assert found.dims_from == ("e.py:2" if dims else "")


def test_files_that_cannot_be_parsed_say_nothing(root: Path, run: Run) -> None:
    write(
        root, {"broken.py": "import torch.export\ndef f(:\n", "deep.py": "import torch.export\nx = a" + ".b" * 20_000}
    )
    assert exports_in([root / "broken.py"], root) == Exports(imports_torch=True)
    assert (run("init").code, (root / "exportlint.toml").exists()) == (0, True)
