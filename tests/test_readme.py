"""What README.md shows is so, and the other documents are current."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.registry import FAMILIES, all_rules, find_rule
from exportlint.suppressions import find_suppressions
from tests.documents import PROJECT, README, USAGE, blocks
from tests.forking import python
from tests.patience import PATIENCE

PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "editors/README.md", "editors/vscode/README.md"]
PAGES += sorted(f"docs/{path.name}" for path in (PROJECT / "docs").glob("*.md"))


def exportlint(*argv: str, cwd: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("FORCE_COLOR", "CLICOLOR"))}
    command = [*python(), "-m", "exportlint", *argv]
    return subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
        env=environment,
    )


def test_the_first_command_prints_what_is_shown() -> None:
    (command,) = blocks("Try it", "sh")
    (shown,) = blocks("Try it", "text")
    install, lint = command.strip().split(" && ")
    assert install == "python -m pip install ."
    name, *argv = shlex.split(lint)
    assert name == "exportlint"
    result = exportlint(*argv)
    assert (result.returncode, result.stderr) == (0, "")
    expected = "\n".join(re.escape(line) if line != "..." else r"(?:.*\n)*.*" for line in shown.splitlines())
    assert re.fullmatch(expected, result.stdout.rstrip("\n")), result.stdout


def test_the_command_of_the_tests_is_one_line_with_pins() -> None:
    (command,) = blocks("Tests", "sh")
    (constraints,) = re.findall(r"-c (\S+) ", command)
    assert command.count("\n") == 1
    pins = (PROJECT / constraints).read_text(encoding="utf-8").splitlines()
    assert [pin for pin in pins if not re.fullmatch(r"#.*|[\w.-]+==[\w.]+", pin)] == []
    assert "torch==2.13.0" in pins


SHOWN = [*blocks("Use", "text"), *blocks("Commands", "text", USAGE)]


@pytest.mark.parametrize("line", dict.fromkeys(line for block in SHOWN for line in block.splitlines()))
def test_every_use_is_understood(line: str, tmp_path: Path) -> None:
    argv = re.split(r"\s{2,}", line)[0]
    source = tmp_path / "src"
    source.mkdir()
    (source / "net.py").write_text("import torch\n", encoding="utf-8")
    result = exportlint(*shlex.split(argv)[1:], cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_settings_are_known(tmp_path: Path) -> None:
    (text,) = blocks("Settings", "toml", USAGE)
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    (tmp_path / "net.py").write_text("import torch\n", encoding="utf-8")
    result = exportlint("--show-settings", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert 'torch-version = "2.13"' in result.stdout
    assert "EXP201" not in next(line for line in result.stdout.splitlines() if line.startswith("select"))


def test_suppressions_are_understood() -> None:
    (text,) = blocks("Suppressions", "python", USAGE)
    found = find_suppressions(text)
    assert found.problems == ()
    assert [pragma.directive.verb for pragma in found.pragmas] == ["ignore", "ignore", "disable"]


def test_the_hook_exists() -> None:
    (text,) = blocks("pre-commit", "yaml")
    hooks = (PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"id: (\S+)", text)) <= set(re.findall(r"id: (\S+)", hooks))


def test_the_measured_figures_are_those_of_the_accuracy_page() -> None:
    page = (PROJECT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^## How far to trust it\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)
    totals = re.findall(r"^\| [\w-]+ \| both \|.*", page, re.MULTILINE)
    measured = [figure for line in totals for figure in re.findall(r"\d+/\d+", line)[:3]]
    assert re.findall(r"\d+/\d+", section) == measured
    models = r"(\d+)\s+models\s+of\s+(\d+)\s+published\s+libraries"
    assert re.findall(models, section) == re.findall(models, page) != []


def test_the_table_of_families_is_complete() -> None:
    shown = dict(re.findall(r"^\| (EXP\d) \| `([\w-]+)` \|", README, re.MULTILINE))
    assert shown == {rule.family: FAMILIES[rule.family].name for rule in all_rules()}


@pytest.mark.parametrize("name", PAGES)
def test_rules_and_links_exist(name: str) -> None:
    page = PROJECT / name
    text = page.read_text(encoding="utf-8")
    assert [code for code in re.findall(r"\bEXP\d{3}\b", text) if find_rule(code) is None and code != "EXP999"] == []
    links = [link.partition("#") for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert [link for link, _, _ in links if not (page.parent / link).exists()] == []
    anchors = [(page.parent / link if link else page, anchor) for link, _, anchor in links if anchor]
    assert [anchor for target, anchor in anchors if anchor not in _anchors(target)] == []


def _anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_tables_of_rules_are_current(tmp_path: Path) -> None:
    written = tmp_path / "rules.md"
    subprocess.run(
        [sys.executable, "scripts/generate_rules_doc.py", str(written)], cwd=PROJECT, check=True, timeout=PATIENCE
    )
    shown = (PROJECT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert shown == written.read_text(encoding="utf-8"), "python scripts/generate_rules_doc.py"
