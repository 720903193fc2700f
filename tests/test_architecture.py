"""The code is laid out as docs/architecture.md says, and starts without what it does not need."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).parents[1]


HEAVY = (
    "asyncio", "concurrent.futures", "libcst", "lsprotocol", "multiprocessing", "numpy", "platformdirs", "pygls",
    "rich", "torch", "unittest",
)  # fmt: skip


def test_imports_go_down() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()"]
    result = subprocess.run(
        [*command, "--no-cache", "--no-logo"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Contracts: 3 kept, 0 broken." in result.stdout


def test_the_page_shows_what_is_checked() -> None:
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = re.search(r"## Who may import whom\n\n```\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    checked = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert shown[1].splitlines() == checked
    described = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*)\|", page, re.MULTILINE))))
    assert described == set(re.findall(r"\w+", " ".join(checked)))
    inside = re.search(r"Inside `analysis`, the same holds:\n\n```\n(.*?)```", page, re.DOTALL)
    assert inside is not None
    assert inside[1].splitlines() == settings["tool"]["importlinter"]["contracts"][1]["layers"]


def test_one_place_computes_where_fixes_read_and_edit() -> None:
    """Source and offsets are for `fixes/edit`, which knows about line ends, tokens and parentheses."""
    for path, node in _rewrites():
        sliced = node.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
        called = sliced.func if isinstance(sliced, ast.Call) else sliced
        assert getattr(called, "attr", "") != "text", f"{path.name}:{getattr(node, 'lineno', 0)} slices source"
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"from_ast", "splitlines", "source"} or not _is_name(node.value, "code"), path
            offsets = {"from_ast", "splitlines", "lineno", "col_offset", "end_lineno", "end_col_offset"}
            assert node.attr not in offsets, f"{path.name}:{node.lineno} computes an offset"


def test_rewrites_are_templates_and_not_text() -> None:
    """What fills a template is a node: source that is put together as text has no parentheses where it needs them."""
    makers = {
        "make", "statement", "statements", "expression", "wrap", "Draft", "call", "method", "keyword", "binary",
        "dotted", "augmented", "starred", "replace", "insert_before", "insert_after", "parsed",
    }  # fmt: skip
    names = {"name", "fresh", "spelled"}  # how the file calls something
    for path, node in _rewrites():
        if isinstance(node, ast.Call):
            name = _called(node)
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            texts = [text for argument in given for text in _texts(argument, names)]
            assert name not in makers or not texts, f"{path.name}:{node.lineno} puts source together"
            assert name != "Draft", f"{path.name}:{node.lineno} computes an offset"


def test_rewrites_say_when_they_are_safe() -> None:
    """The first lines of a file that makes fixes say what becomes what, and what can differ."""
    for path in (PROJECT / "exportlint" / "fixes").glob("*/*.py"):
        root = ast.parse(path.read_text(encoding="utf-8"))
        makes_fixes = any(isinstance(node, ast.Call) and _called(node) == "fix" for node in ast.walk(root))
        text = ast.get_docstring(root) or ""
        assert not makes_fixes or ("`" in text and re.search(r"\b(Safe|Never safe)\b", text)), path.name


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _texts(node: ast.AST, but: set[str]) -> Iterator[ast.AST]:
    """The texts that a node puts together, but for those that functions with some names are given."""
    joins = isinstance(node, ast.Call) and _called(node) in {"format", "join"}
    is_sum = isinstance(node, ast.BinOp) and any(
        isinstance(s, ast.Constant) and isinstance(s.value, str) for s in (node.left, node.right)
    )
    if isinstance(node, ast.JoinedStr) or joins or is_sum:
        yield node
    if not (isinstance(node, ast.Call) and _called(node) in but):
        for child in ast.iter_child_nodes(node):
            yield from _texts(child, but)


def _rewrites() -> Iterator[tuple[Path, ast.AST]]:
    root = PROJECT / "exportlint"
    edit = root / "fixes" / "edit"
    for path in [*root.glob("fixes/**/*.py"), *root.glob("rules/*.py")]:
        if edit not in path.parents:
            yield from ((path, node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


@pytest.mark.parametrize(
    ("argv", "exit_code", "also"),
    [
        (["model.py"], 1, ()),
        (["--output-format", "json", "model.py"], 1, ()),
        (["--version"], 0, ("json", "exportlint.linter", "exportlint.analysis")),
        (["nowhere.py"], 1, ("exportlint.workers",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_nothing_heavy_is_loaded(argv: list[str], exit_code: int, also: tuple[str, ...], tmp_path: Path) -> None:
    code = "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x if x.any() else -x\n"
    (tmp_path / "model.py").write_text("import torch\n" + code, encoding="utf-8")
    script = (
        "import sys\nbefore = set(sys.modules)\nfrom exportlint.cli import main\n"
        f"code = main({argv!r} + ['--isolated', '--unfixable', 'ALL'] * {'--version' not in argv})\n"
        f"print(code, *sorted(({{*{HEAVY!r}, *{also!r}}} & set(sys.modules)) - before), sep='\\n', file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert result.stderr.splitlines() == [str(exit_code)]
    assert result.stdout


def test_the_worked_trace_is_true(tmp_path: Path) -> None:
    """Each module that the page leads an expression through runs on it, and nothing is found."""
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## One expression, all the way")[2].partition("\n## ")[0]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    (tmp_path / "net.py").write_text(code[1], encoding="utf-8")
    script = (
        "import sys, threading\nfrom exportlint.cli import main\nran = set()\n"
        "def note(frame, event, argument): ran.add(frame.f_code.co_filename)\n"
        "threading.setprofile(note)\nsys.setprofile(note)\n"
        "code = main(['net.py', '--isolated'])\nsys.setprofile(None)\nprint(*ran, sep='\\n')\nsys.exit(code)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "All checks passed!" in result.stdout
    root = PROJECT / "exportlint"
    ran = {Path(line).relative_to(root).as_posix() for line in result.stdout.splitlines() if line.startswith(str(root))}
    named = set(re.findall(r"`([\w/]+\.py)`", section.partition("\nWith `if")[0]))
    assert len(named) > 10
    assert {name for name in named if name not in ran and f"analysis/{name}" not in ran} == set()
