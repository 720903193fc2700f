"""Which fixes the settings leave, and how safe they make them."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.config import Configuration, Layer, check
from exportlint.findings import Applicability, Finding, Fix, Position, Severity, Span
from exportlint.registry import expand
from tests.cli.runner import write

START = Span(Position(1, 1), Position(1, 1))


def finding(applicability: str, code: str = "EXP301") -> Finding:
    fix = Fix(Applicability(applicability), "Fix it", ())
    return Finding(code, "name", Severity.ERROR, "message", "a.py", START, fix=fix)


def effective(root: Path, toml: str, own: str, **flags: list[str]) -> str | None:
    """The applicability of a fix of EXP301 that the settings make of its own, or None if the fix is not offered."""
    write(root, {"exportlint.toml": toml})
    overrides = [Layer(root, check({key.replace("_", "-"): value for key, value in flags.items()}, None))]
    fix = Configuration(root, overrides=overrides).for_directory(root).fixes.apply(finding(own)).fix
    return None if fix is None else fix.applicability.value


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("", True),
        ('unfixable = ["EXP301"]', False),
        ('unfixable = ["mutation"]', False),
        ('fixable = ["EXP1"]', False),
        ('fixable = []\nextend-fixable = ["tensor-data"]', True),
        ('fixable = ["EXP301"]\nunfixable = ["EXP3"]', True),
        ('fixable = ["EXP3"]\nunfixable = ["EXP301"]', False),
    ],
)
def test_fixable(tmp_path: Path, toml: str, expected: bool) -> None:
    assert (effective(tmp_path, toml, "safe") == "safe") == expected


def test_what_the_command_line_names_overrides_the_file(tmp_path: Path) -> None:
    assert effective(tmp_path, 'unfixable = ["EXP301"]', "safe", fixable=["ALL"]) == "safe"
    assert effective(tmp_path, 'fixable = ["EXP301"]', "safe", unfixable=["EXP3"]) is None
    assert effective(tmp_path, 'fixable = ["EXP1"]', "safe", extend_fixable=["EXP3"]) == "safe"


@pytest.mark.parametrize(
    ("toml", "own", "expected"),
    [
        ('extend-safe-fixes = ["EXP301"]', "unsafe", "safe"),
        ('extend-safe-fixes = ["EXP1"]', "unsafe", "unsafe"),
        ('extend-unsafe-fixes = ["tensor-data"]', "safe", "unsafe"),
        ('extend-safe-fixes = ["ALL"]', "display-only", "display-only"),
        ('extend-unsafe-fixes = ["ALL"]', "display-only", "display-only"),
        ('extend-safe-fixes = ["EXP301"]\nextend-unsafe-fixes = ["ALL"]', "unsafe", "safe"),
        ('extend-safe-fixes = ["EXP3"]\nextend-unsafe-fixes = ["EXP301"]', "safe", "unsafe"),
        ('extend-safe-fixes = ["EXP301"]\nextend-unsafe-fixes = ["EXP301"]', "safe", "unsafe"),
    ],
)
def test_promotion_and_demotion(tmp_path: Path, toml: str, own: str, expected: str) -> None:
    assert effective(tmp_path, toml, own) == expected


def test_settings_of_an_extended_file_stay(tmp_path: Path) -> None:
    write(tmp_path, {"base.toml": 'extend-safe-fixes = ["EXP301"]\nunfixable = ["EXP1"]\n'})
    toml = 'extend = "base.toml"\nextend-safe-fixes = ["EXP1"]\n'
    assert effective(tmp_path, toml, "unsafe") == "safe"
    assert Configuration(tmp_path).for_directory(tmp_path).fixes.fixable == expand("ALL") - expand("EXP1")


def test_described(tmp_path: Path) -> None:
    write(tmp_path, {"exportlint.toml": 'fix = true\nfixable = ["EXP301"]\nextend-unsafe-fixes = ["EXP302"]\n'})
    described = dict(Configuration(tmp_path).for_directory(tmp_path).described())
    assert (described["fix"], described["fix-only"], described["unsafe-fixes"]) == ("true", "false", "false")
    assert (described["fixable"], described["extend-safe-fixes"]) == ('["EXP301"]', "[]")
    assert described["extend-unsafe-fixes"] == '["EXP302"]'
