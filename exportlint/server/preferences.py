"""What the user set in the editor: the section `exportlint` of its settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from exportlint.config import ConfigError, Layer, check, load_extended
from exportlint.registry import nearest

Precedence = Literal["editorFirst", "filesystemFirst", "editorOnly"]

_KEYS = {
    "lint.select": "select",
    "lint.extendSelect": "extend-select",
    "lint.ignore": "ignore",
    "mode": "mode",
    "torchVersion": "torch-version",
}
"""Settings of the editor that say what settings of files say."""

KEYS = frozenset(_KEYS) | {
    "enable",
    "lint.run",
    "configuration",
    "configurationPreference",
    "unsafeFixes",
    "fixAll",
    "codeAction.fixViolation.enable",
    "codeAction.disableRuleComment.enable",
    "codeLens.enable",
    "workspaceDiagnostics",
    "verify.enable",
    "verify.python",
    "logLevel",
    # of the client alone
    "logFile",
    "path",
    "interpreter",
    "importStrategy",
    "showNotifications",
    "trace.server",
}
"""The names of all settings."""


@dataclass(frozen=True)
class Preferences:
    """The editor's settings for one folder. `problems` are those that cannot be used, which count as not set."""

    enable: bool = True
    run: Literal["onType", "onSave"] = "onType"
    precedence: Precedence = "editorFirst"
    unsafe_fixes: bool = False
    fix_all: bool = True
    fix_violation: bool = True
    disable_comment: bool = True
    code_lens: bool = True
    workspace_diagnostics: bool = False
    verify: bool = True
    python: str | None = None
    log_level: Literal["warning", "error", "info", "debug"] = "warning"
    layers: tuple[Layer, ...] = ()
    problems: tuple[str, ...] = ()

    @staticmethod
    def of(section: Mapping[str, object], folder: Path) -> Preferences:
        """The preferences that a client sends, nested or with dots in its keys; paths are relative to `folder`."""
        given = flat(section)
        problems = _unknown(given)
        if given.get("logFile"):
            # What a client sends may come from the folder that it has open.
            problems.append("`exportlint.logFile`: not taken from a client, start the server with `--log-file FILE`")

        def one_of(key: str, *allowed: Any) -> Any:
            value = given.get(key)
            if value is not None and not any(type(value) is type(word) and value == word for word in allowed):
                listed = ", ".join(json.dumps(word).strip('"') for word in allowed)
                problems.append(f"`exportlint.{key}`: `{value}` is not one of {listed}")
                value = None
            return allowed[0] if value is None else value

        def path(key: str) -> str | None:
            value = given.get(key)
            if isinstance(value, (str, type(None))):
                return value or None
            problems.append(f"`exportlint.{key}`: `{value}` is not a path")
            return None

        return Preferences(
            enable=one_of("enable", True, False),
            run=one_of("lint.run", "onType", "onSave"),
            precedence=one_of("configurationPreference", "editorFirst", "filesystemFirst", "editorOnly"),
            unsafe_fixes=one_of("unsafeFixes", False, True),
            fix_all=one_of("fixAll", True, False),
            fix_violation=one_of("codeAction.fixViolation.enable", True, False),
            disable_comment=one_of("codeAction.disableRuleComment.enable", True, False),
            code_lens=one_of("codeLens.enable", True, False),
            workspace_diagnostics=one_of("workspaceDiagnostics", False, True),
            verify=one_of("verify.enable", True, False),
            python=path("verify.python"),
            log_level=one_of("logLevel", "warning", "error", "info", "debug"),
            layers=tuple(_layers(given, folder, problems)),
            problems=tuple(problems),
        )


def _unknown(given: Mapping[str, object]) -> list[str]:
    """What is wrong with the names of settings."""
    found = []
    for key in given.keys() - KEYS:
        near = nearest(key, KEYS, count=1)
        found.append(f"`exportlint.{key}` is not a setting" + (f", did you mean {near}?" if near else ""))
    return sorted(found)


def _layers(given: Mapping[str, Any], folder: Path, problems: list[str]) -> list[Layer]:
    layers: list[Layer] = []
    configuration = given.get("configuration")
    try:
        if isinstance(configuration, str) and configuration:
            layers += load_extended(folder / Path(configuration).expanduser())
        elif isinstance(configuration, Mapping):
            layers.append(Layer(folder, check(configuration, None)))
        elif configuration:
            problems.append("`exportlint.configuration` is neither a path nor a table")
    except ConfigError as error:
        problems.append(f"`exportlint.configuration`: {error}")
    for key, name in _KEYS.items():
        value = given.get(key)
        if value is None:
            continue
        try:
            layers.append(Layer(folder, check({name: value}, None)))
        except ConfigError as error:
            problems.append(f"`exportlint.{key}`: {str(error).partition('`: ')[2] or error}")
    return layers


def flat(section: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Settings by their names with dots, such as `lint.run`, however they are nested."""
    found: dict[str, object] = {}
    for key, value in section.items():
        name = f"{prefix}{key}"
        found |= flat(value, f"{name}.") if isinstance(value, Mapping) and name != "configuration" else {name: value}
    return found
