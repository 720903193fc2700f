"""The Python API: what docs/api.md shows, what is loaded, and what comes of odd input."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

import exportlint
from exportlint.config import OPTIONS
from tests.cli.runner import NET, write
from tests.documents import PROJECT
from tests.patience import PATIENCE
from tests.test_architecture import HEAVY

PAGE = (PROJECT / "docs" / "api.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^```python\n(.*?)^```\n\n^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def python(code: str, cwd: Path) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    return result.stdout


def test_the_page_is_true(tmp_path: Path) -> None:
    assert len(SHOWN) == PAGE.count("```python") == 5
    code = "\nprint('-----')\n".join(code for code, _ in SHOWN)
    assert python(code, tmp_path) == "-----\n".join(text for _, text in SHOWN)


@pytest.mark.thorough
def test_the_page_has_types(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("\n".join(code for code, _ in SHOWN), encoding="utf-8")
    python("import sys; from mypy.main import main; main(args=['--strict', 'page.py'], stdout=sys.stdout)", tmp_path)


def test_the_page_names_everything() -> None:
    assert {name for name in exportlint.__all__ if f"`{name}" not in PAGE and f".{name}" not in PAGE} == set()


def test_importing_the_package_loads_nothing(tmp_path: Path) -> None:
    script = "import sys; before = set(sys.modules); {}; print(*sorted(set(sys.modules) - before))"
    assert (
        python(script.format("import exportlint, exportlint as e; dir(e), e.__version__"), tmp_path) == "exportlint\n"
    )
    loaded = python(script.format("import exportlint; exportlint.check_source('', fixes=False)"), tmp_path).split()
    assert "exportlint.linter" in loaded
    assert set(HEAVY) & set(loaded) <= {"platformdirs"}  # it looks for the user's own configuration


def test_what_is_exported_exists() -> None:
    assert {name for name in exportlint.__all__ if not hasattr(exportlint, name)} == set()
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = exportlint.nothing


def test_settings_are_those_of_the_configuration() -> None:
    assert {name.replace("_", "-") for name in exportlint.SettingValues.__annotations__} <= OPTIONS.keys()


def test_results_are_plain_values() -> None:
    findings = exportlint.check_source(NET, filename="net.py", isolated=True)
    assert findings
    assert pickle.loads(pickle.dumps(findings)) == findings
    assert len(set(findings)) == len(findings)


def test_the_configuration_of_the_file_holds(tmp_path: Path) -> None:
    (tmp_path / "exportlint.toml").write_text('ignore = ["ALL"]\n', encoding="utf-8")
    file = tmp_path / "net.py"
    assert exportlint.check_source(NET, filename=file) == ()
    assert exportlint.check_source(NET, filename=file, select=["EXP1"])
    assert exportlint.check_source(NET, filename=file, isolated=True)


def test_imports_are_followed_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def is_dark(x):\n    return x.mean() < 0.5\n", encoding="utf-8")
    code = (
        "import torch\nfrom helper import is_dark\n\n\nclass Net(torch.nn.Module):\n"
        "    def forward(self, x: torch.Tensor):\n        return x if is_dark(x) else -x\n"
    )
    (finding,) = exportlint.check_source(code, filename=tmp_path / "net.py")
    assert (finding.code, finding.filename) == ("EXP101", str(tmp_path / "net.py"))


def test_paths_are_those_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = "def is_dark(x):\n    return 1 if x.mean() < 0.5 else 0\n"
    code = (
        "import torch\nfrom helper import is_dark\n\n\nclass Net(torch.nn.Module):\n"
        "    def forward(self, x: torch.Tensor):\n        return is_dark(x)\n"
    )
    write(tmp_path, {"pyproject.toml": "[tool.exportlint]\n", "helper.py": helper, "net.py": code, "skip/a.py": NET})
    monkeypatch.chdir(tmp_path)

    def found(*paths: str, **settings: Any) -> list[tuple[str, str]]:
        findings = exportlint.check_paths(paths, **settings)
        return [(Path(one.filename).relative_to(tmp_path).as_posix(), one.code) for one in findings]

    assert found(".") == [("helper.py", "EXP101"), ("skip/a.py", "EXP101")]
    assert found("helper.py") == [("helper.py", "EXP101")]  # by way of its importer
    assert found("net.py", "nowhere.py") == [("helper.py", "EXP101"), ("nowhere.py", "EXP003")]
    write(tmp_path, {"pyproject.toml": '[tool.exportlint]\nextend-exclude = ["skip"]\nbaseline = "known.jsonl"\n'})
    command = [sys.executable, "-m", "exportlint", "--update-baseline", "helper.py"]
    subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE)
    assert found(".") == []
    assert found("skip/a.py") == [("skip/a.py", "EXP101")]
    (tmp_path / "known.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(exportlint.ConfigError, match=r"known\.jsonl"):
        found(".")


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ("", []),
        ("def f(:\n", ["EXP001"]),
        ("\ufeff# plain\n", []),
        ("# -*- coding: latin-1 -*-\nname = 'é'\n", []),
        ("# -*- coding: latin-1 -*-\nname = '→'\n", []),
        ("# -*- coding: nonsense -*-\n", ["EXP003"]),
        ("a = '\0'\n", ["EXP003"]),
        (b"a = '\xff'\n", ["EXP003"]),
    ],
)
def test_what_is_not_python_is_a_finding(source: str | bytes, codes: list[str]) -> None:
    assert [finding.code for finding in exportlint.check_source(source, isolated=True)] == codes
    if isinstance(source, str):
        assert exportlint.fix_source(source, isolated=True).source == source


@pytest.mark.parametrize("head", ["", "\ufeff", "# -*- coding: latin-1 -*-\n", "# é\r\n"])
def test_fixed_text_keeps_what_is_around(head: str) -> None:
    source = head + NET.replace("\n", "\r\n" if "\r" in head else "\n")
    fixed = exportlint.fix_source(source, unsafe=True, isolated=True)
    assert fixed.source.startswith(head)
    assert fixed.source != source
    assert fixed.applied
    again = exportlint.fix_source(fixed.source, unsafe=True, isolated=True)
    assert (again.source, again.applied, again.remaining) == (fixed.source, (), fixed.remaining)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mod": "strict"}, "unknown setting `mod`, did you mean `mode`?"),
        ({"mode": "strct"}, "did you mean `strict`?"),
        ({"select": "EXP1"}, "expected an array of strings"),
        ({"torch_version": 2.9}, 'write "2.9"'),
    ],
)
def test_wrong_settings_are_one_line(settings: dict[str, Any], said: str) -> None:
    for call in (exportlint.check_source, exportlint.fix_source, exportlint.explain_errors):
        with pytest.raises(exportlint.ConfigError) as raised:
            cast(Any, call)("", **settings)
        assert said in str(raised.value)
        assert "\n" not in str(raised.value)


def test_no_error_is_no_explanation() -> None:
    assert exportlint.explain_errors("all is well\n") == ()
    with pytest.raises(KeyError):
        exportlint.rule_page("EXP999")
