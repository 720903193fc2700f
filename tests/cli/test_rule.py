from __future__ import annotations

import json

import pytest

from exportlint.registry import all_rules, page
from tests.cli.runner import Run


@pytest.mark.parametrize("name", ["EXP001", "syntax-error"])
def test_a_page_by_code_or_name(run: Run, name: str) -> None:
    result = run("rule", name)
    assert result.code == 0
    assert result.out.startswith("# syntax-error (EXP001)\n\n## What it does\n")


def test_json(run: Run) -> None:
    shown = json.loads(run("rule", "EXP002", "--output-format", "json").out)
    assert shown["code"] == "EXP002"
    assert shown["name"] == "unused-suppression"
    assert shown["family"] == "linter"
    assert shown["explanation"].startswith("# unused-suppression (EXP002)\n")
    assert shown["url"].endswith("/EXP002-unused-suppression.md")


def test_all(run: Run) -> None:
    shown = json.loads(run("rule", "--all", "--output-format", "json").out)
    assert [rule["code"] for rule in shown] == [rule.code for rule in all_rules()]
    text = run("rule", "--all").out
    for rule in all_rules():
        assert page(rule).strip() in text


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("rule", "EXP999"), "there is no rule `EXP999`"),
        (("rule", "sytnax-error"), "there is no rule `sytnax-error`, did you mean `syntax-error`?"),
        (("rule",), "name one rule, or give --all"),
        (("rule", "EXP001", "--all"), "name one rule, or give --all"),
        (("config", "torch_version"), "there is no setting `torch_version`, did you mean `torch-version`?"),
    ],
)
def test_wrong_use(run: Run, argv: tuple[str, ...], error: str) -> None:
    result = run(*argv)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {error}")


def test_config_lists_and_explains_settings(run: Run) -> None:
    keys = run("config").out.splitlines()
    assert {"mode", "torch-version", "select", "per-file-ignores"} <= set(keys)
    explained = json.loads(run("config", "--output-format", "json").out)
    assert list(explained) == keys
    for key in keys:
        out = run("config", key).out
        assert out.startswith(f"{key}\n\n")
        assert explained[key]["type"] in out
        assert explained[key]["example"] in out


def test_version(run: Run) -> None:
    from exportlint import __version__

    assert run("version").out == run("--version").out == f"exportlint {__version__}\n"


@pytest.mark.parametrize("argv", [("--help",), ("check", "--help"), ("rule", "-h"), ("config", "-h")])
def test_help(run: Run, argv: tuple[str, ...]) -> None:
    result = run(*argv)
    assert result.code == 0
    assert "exit codes:" in result.out
