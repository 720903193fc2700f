"""What a plain check of one file imports, and a server that shows findings: nothing that they do not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import NET
from tests.server.raw import process

CLEAN = NET.replace("if x.sum() > 0:", "if self.training:")
SCRIPT = "print('no model')\n"

_PROGRAM = """\
import sys
from exportlint.cli import main
main(["--isolated", "--output-format", "concise", *sys.argv[1:]])
print(*sys.modules, sep="\\n", file=sys.stderr)
"""

_SERVER = """\
import sys
from exportlint.cli import main
main(["server", "--no-cache"])
print(*sys.modules, sep="\\n", file=sys.stderr)
"""

REPORT = {"cells", "concise", "context", "statistics", "summary", "trails", "wrapping"}
HEAVY = ("torch", "numpy", "libcst", "pygls", "lsprotocol", "rich", "asyncio", "multiprocessing", "concurrent")
UNFIXABLE = NET.replace("x.sum() > 0", "x.data_ptr() == 0")
STANDARD = """
argparse array ast bisect bz2 collections contextlib copy copyreg dataclasses dis encodings enum errno fnmatch functools
gc gettext glob hashlib heapq importlib inspect ipaddress itertools json keyword linecache locale lzma math ntpath
opcode operator pathlib pkgutil re reprlib shutil string struct textwrap threading token tokenize types typing
unicodedata urllib warnings weakref zipimport zlib
"""
"""What a check needs of Python's library, by itself or because these modules import each other."""


def loaded(file: Path, text: str, *arguments: str) -> frozenset[str]:
    """The modules that are imported once a file has been checked."""
    file.write_text(text)
    program = [sys.executable, "-c", _PROGRAM, str(file), *arguments]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd=file.parent)
    return frozenset(done.stderr.split())


def below(package: str, modules: frozenset[str]) -> set[str]:
    """The modules of a package, without its name."""
    return {name.removeprefix(f"{package}.") for name in modules if name.startswith(f"{package}.")}


@pytest.mark.parametrize("text", [SCRIPT, CLEAN, NET], ids=["no model", "no finding", "finding"])
def test_a_check_imports_neither_what_fixes_nor_what_serves(text: str, tmp_path: Path) -> None:
    modules = loaded(tmp_path / "net.py", text, "--unfixable", "ALL")
    assert not {name for name in modules if name.partition(".")[0] in HEAVY}
    for package in ("fixer", "server", "verify", "workers", "explain", "atomic", "pages"):
        assert not {name for name in modules if f"{name}.".startswith(f"exportlint.{package}.")}
    assert below("exportlint.report", modules) <= REPORT


@pytest.mark.parametrize("text", [SCRIPT, CLEAN, NET], ids=["no model", "no finding", "finding"])
def test_a_check_imports_only_these_modules_of_other_packages(text: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    started = {name.partition(".")[0] for name in done.stdout.split()}
    modules = {name.partition(".")[0] for name in loaded(tmp_path / "net.py", text, "--unfixable", "ALL")}
    assert {name for name in modules - started if not name.startswith("_")} <= {"exportlint", *STANDARD.split()}


@pytest.mark.thorough
def test_libcst_is_imported_to_work_out_a_fix_that_is_shown(tmp_path: Path) -> None:
    heavy = {name.partition(".")[0] for name in loaded(tmp_path / "net.py", NET)} & set(HEAVY)
    assert heavy == {"libcst"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (NET, ("--output-format", "github")),
        (NET, ("--add-ignore",)),
        (NET, ("--ignore", "EXP101")),
        (NET.replace("> 0:", "> 0:  # exportlint: ignore[EXP101]"), ()),
        (UNFIXABLE, ()),
    ],
    ids=["not in the format", "not in what is asked", "ignored", "suppressed", "none"],
)
def test_libcst_is_not_imported_where_nobody_sees_a_fix(text: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert not {name for name in loaded(tmp_path / "net.py", text, *arguments) if name.startswith("libcst")}


def test_what_has_no_model_needs_no_rules_and_no_interpreter(tmp_path: Path) -> None:
    modules = loaded(tmp_path / "script.py", SCRIPT)
    assert not below("exportlint.rules", modules)
    assert below("exportlint.fixes", modules) <= {"errors"}
    assert not below("exportlint.analysis.models", modules)


@pytest.mark.thorough
def test_only_rules_that_look_at_what_happens_are_imported(tmp_path: Path) -> None:
    clean, net = (loaded(tmp_path / "net.py", text) for text in (CLEAN, NET))
    assert "tensor_branch" not in below("exportlint.rules", clean)
    assert "tensor_branch" in below("exportlint.rules", net)
    assert len(below("exportlint.rules", net)) < 30


def test_fixes_are_imported_with_the_rules_that_have_them(tmp_path: Path) -> None:
    clean, net = (below("exportlint.fixes", loaded(tmp_path / "net.py", text)) for text in (CLEAN, NET))
    assert "control_flow.truth" in net - clean


def test_a_server_imports_what_fixes_explains_and_verifies_once_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(NET)
    with process(tmp_path, [sys.executable, "-c", _SERVER]) as server:
        server.start(tmp_path)
        server.open(file.as_uri(), NET)
        assert server.codes(file.as_uri()) == ["EXP101"]
        server.stop()
    modules = set(server.logged.split())
    assert "exportlint.rules.tensor_branch" in modules
    for package in ("libcst", "torch", "numpy", "exportlint.fixer", "exportlint.verify", "exportlint.diagnosis"):
        assert not {name for name in modules if f"{name}.".startswith(f"{package}.")}
