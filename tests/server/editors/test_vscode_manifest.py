"""The settings that the VS Code extension declares are those that the server takes."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from exportlint.config.schema import PYPROJECT_URL, URL
from exportlint.config.toml import FILE_NAMES, parse
from exportlint.server.preferences import KEYS, Preferences
from tests.documents import PROJECT

MANIFEST = json.loads((PROJECT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
PROPERTIES: dict[str, Any] = {
    name.removeprefix("exportlint."): setting
    for name, setting in MANIFEST["contributes"]["configuration"]["properties"].items()
}

OF_THE_CLIENT = {"path", "interpreter", "importStrategy", "showNotifications", "trace.server"}

CHOICES = {key: setting["enum"] for key, setting in PROPERTIES.items() if "enum" in setting}


def problems(key: str, value: object) -> tuple[str, ...]:
    """What the server says of a setting."""
    return Preferences.of({key: value}, Path()).problems


def test_each_setting_of_the_server_can_be_set_and_no_other() -> None:
    assert set(PROPERTIES) == KEYS


def test_the_defaults_are_those_of_the_server() -> None:
    defaults = {key: setting["default"] for key, setting in PROPERTIES.items()}
    # the log of VS Code is read on purpose only, and may tell more
    expected = dataclasses.replace(Preferences(), log_level="info")
    assert Preferences.of(defaults, Path()) == expected


def test_the_schema_of_configuration_files_is_contributed() -> None:
    (rule,) = MANIFEST["contributes"]["tomlValidation"]
    assert set(rule["fileMatch"]) == {name for name in FILE_NAMES if name != "pyproject.toml"}
    assert rule["url"] == URL


def test_the_readme_names_the_schema_of_pyproject() -> None:
    text = (PROJECT / "editors" / "vscode" / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(\"evenBetterToml.*?)```", text, re.DOTALL)
    ((pattern, url),) = json.loads(f"{{{block}}}")["evenBetterToml.schema.associations"].items()
    assert re.search(pattern, "file:///home/me/project/pyproject.toml")
    assert url == PYPROJECT_URL


def test_the_extension_bundles_what_exportlint_needs_but_for_native_code() -> None:
    text = (PROJECT / "editors" / "vscode" / "bundled" / "requirements.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+) --hash=sha256:[0-9a-f]{64}$", text, re.M))
    assert len(pinned) == len([line for line in text.splitlines() if line and not line.startswith("#")])
    project = parse((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[><=;]", one)[0]: one for one in project["dependencies"]}
    assert needed.keys() - pinned.keys() == {"libcst"}
    for name, requirement in needed.items():
        if name in pinned and (least := re.search(r">=([\d.]+)", requirement)):
            assert _numbers(pinned[name]) >= _numbers(least[1]), name


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


@pytest.mark.parametrize("key", sorted(CHOICES.keys() - OF_THE_CLIENT))
def test_the_choices_are_those_of_the_server(key: str) -> None:
    assert [problems(key, value) for value in CHOICES[key]] == [()] * len(CHOICES[key])
    (said,) = problems(key, "nonsense")
    taken = re.split(" is (?:not one|none) of ", said)[1]
    assert set(re.findall(r"[\w-]+", taken)) == set(CHOICES[key]) - {None}


@pytest.mark.parametrize("key", [key for key, setting in PROPERTIES.items() if setting["type"] == "boolean"])
def test_what_is_true_or_false_is_so_for_the_server(key: str) -> None:
    assert problems(key, True) == problems(key, False) == ()
    assert problems(key, "yes")


@pytest.mark.parametrize("key", [key for key, setting in PROPERTIES.items() if "array" in setting["type"]])
def test_lists_are_taken(key: str) -> None:
    assert problems(key, ["EXP101"]) == ()
