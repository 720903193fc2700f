"""Files that are named are looked at together with the files of their project that import them."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint import selection, workspace
from exportlint.findings import Finding
from exportlint.source import SourceFile
from tests.cli.runner import NET, Run, write

HELPER = "def is_dark(t):\n    return t.mean() < 0.5\n"
USER = NET.replace("import torch\n", "from ops.dark import is_dark\n").replace("x.sum() > 0", "is_dark(x)")
FOUND = ("net.py", 7, "EXP101")


@pytest.fixture
def project(root: Path) -> Path:
    """A module that breaks because of a helper in another folder."""
    write(root, {"pyproject.toml": "", "ops/__init__.py": "", "ops/dark.py": HELPER, "net.py": USER})
    return root


def test_what_a_helper_breaks_is_told_with_the_helper(project: Path, run: Run) -> None:
    result = run("ops/dark.py")
    assert result.code == 1
    assert "--> net.py:7:12" in result.out
    assert "Found 1 finding (1 error, 0 warnings)." in result.out


@pytest.mark.parametrize(
    ("argv", "places"),
    [
        (("ops/dark.py",), [FOUND]),
        (("./ops/../ops/dark.py",), [FOUND]),
        (("ops/dark.py", "ops/__init__.py"), [FOUND]),
        (("ops/__init__.py",), []),
        (("ops",), []),
        (("ops", "--follow-importers", "always"), [FOUND]),
        (("ops/dark.py", "--follow-importers", "always"), [FOUND]),
        (("ops/dark.py", "--follow-importers", "never"), []),
        (("ops/dark.py", "--config", 'follow-importers = "never"'), []),
        (("ops/dark.py", "--ignore", "EXP1"), []),
        (("ops/dark.py", "--per-file-ignores", "net.py:EXP1"), []),
        (("ops/dark.py", "net.py"), [FOUND]),
        (("ops/dark.py", "-j", "2"), [FOUND]),
    ],
    ids=repr,
)
def test_when_importers_are_looked_at(
    project: Path, run: Run, argv: tuple[str, ...], places: list[tuple[str, int, str]]
) -> None:
    result = run(*argv, "--output-format", "json")
    assert (result.places, result.code, result.err) == (places, int(bool(places)), "")


@pytest.mark.parametrize(
    "statement",
    [
        "from ops.lazy_import import is_dark",
        "from .lazy_import import (\n    is_bright as other,  # import nothing\n    is_dark,\n)",
        "from ops.lazy_import import \\\n    is_dark",
        "from ops.lazy_import import *",
        "import ops.lazy_import as helpers; is_dark = helpers.is_dark",
        "import ops\nis_dark = lambda x: ops.lazy_import.is_dark(x)",
    ],
    ids=repr,
)
def test_all_forms_of_imports_are_found(root: Path, run: Run, statement: str) -> None:
    user = USER.replace("from ops.dark import is_dark", statement)
    write(root, {"pyproject.toml": "", "ops/__init__.py": "", "ops/lazy_import.py": HELPER, "ops/net.py": user})
    result = run("ops/lazy_import.py", "--output-format", "json")
    assert [(name, code) for name, _, code in result.places] == [("net.py", "EXP101")]


def test_an_unknown_choice_is_said(project: Path, run: Run) -> None:
    result = run("ops/dark.py", "--follow-importers", "allways")
    assert result.code == 2
    assert result.err.startswith("error: --follow-importers: `allways` is not one of `auto`, `always`, `never`")


def test_a_failure_of_exportlint_on_an_importer_is_told(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: SourceFile, *_: object) -> list[Finding]:
        raise ValueError(source.path.name)

    monkeypatch.setattr(workspace, "check_file", fail)
    result = run("ops/dark.py", "--output-format", "concise")
    assert result.code == 2
    assert "net.py:1:1: error[EXP004" in result.out


def test_only_named_files_are_fixed(project: Path, run: Run) -> None:
    shown = run("ops/dark.py", "--unsafe-fixes").out
    assert "[*]" not in shown
    result = run("ops/dark.py", "--fix", "--unsafe-fixes")
    assert "net.py:7:12" in result.out
    assert (project / "net.py").read_text() == USER
    assert run("ops/dark.py", "--add-ignore").out == "Added 0 suppressions.\n"
    assert (project / "net.py").read_text() == USER


def test_what_importers_find_in_a_named_file_is_gone_once_fixed(project: Path, run: Run) -> None:
    write(project, {"ops/dark.py": "def is_dark(t):\n    return t.data.mean() < 0.5\n"})
    assert "EXP301" in run("ops/dark.py").out
    fixed = run("ops/dark.py", "--fix", "--output-format", "json")
    assert fixed.places == run("ops/dark.py", "--output-format", "json").places == [FOUND]


def test_standard_input_is_looked_at_alone(project: Path, run: Run) -> None:
    assert run("-", "--stdin-filename", "ops/dark.py", stdin=HELPER.encode()).out == "All checks passed!\n"
    followed = run("-", "--stdin-filename", "ops/dark.py", "--follow-importers", "always", stdin=HELPER.encode())
    assert "net.py:7:12" in followed.out
    other = run("-", "--stdin-filename", "ops/dark.py", "--follow-importers", "always", stdin=b"is_dark = 3\n")
    assert other.out == "All checks passed!\n"


def test_what_is_left_out_is_said(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "MAX_SOURCE", 1)
    write(project, {"other.py": USER, "third.py": USER})
    said = "Analyzed the closest 1 of 3 files that directly or indirectly import the linted ones"
    result = run("ops/dark.py", "--output-format", "concise")
    assert said in result.out.splitlines()[-1]
    assert "net.py:7:12" in result.out
    assert "other.py" not in result.out
    assert said in run("ops/dark.py", "--output-format", "json").err
    assert said not in run("ops/dark.py", "--quiet").out
    assert said not in run("ops/dark.py", "--follow-importers", "always").out


def test_a_broken_configuration_elsewhere_does_not_stop_a_run(project: Path, run: Run) -> None:
    write(project, {"docs/exportlint.toml": "mode = 3\n", "docs/conf.py": "import ops.dark\n"})
    result = run("ops/dark.py")
    assert result.code == 0
    assert "Files that import the linted ones were not analyzed: " in result.out
    assert str(Path("docs") / "exportlint.toml") in result.out


def test_imports_that_lead_nowhere_are_named_under_the_summary(project: Path, run: Run) -> None:
    write(
        project, {"net.py": USER.replace("ops.dark", "ops.light"), "a.py": "import ops.b\nimport ops.c\nimport ops.d\n"}
    )
    *_, summary, line = run(".").out.splitlines()
    assert summary == "All checks passed!"
    assert line == (
        "4 imports of this project could not be resolved: `ops.b` (a.py:1), `ops.c` (a.py:2), `ops.d` (a.py:3) "
        "and 1 more; set `src` to the directories that imports start from."
    )
    assert "resolved" not in run(".", "--quiet").out
    assert run(".", "--output-format", "json").out == "[]\n"


def test_the_settings_say_where_imports_start(project: Path, run: Run) -> None:
    write(project, {"pkgs/a/src/x/y.py": "", "pkgs/b/lib/z.py": "", "pkgs/c/lib/z.py": ""})
    lines = run("pkgs/a/src/x/y.py", "--show-settings", "--config", 'src = [".", "pkgs/*/lib"]').out.splitlines()
    roots = [line.strip() for line in lines[lines.index("Imports start from:") + 1 :]]
    expected = [".", "pkgs/b/lib", "pkgs/c/lib", "pkgs/a/src/x", "pkgs/a/src"]
    assert roots[:5] == [str(project / name) if name != "." else str(project) for name in expected]
