"""What the user set in the editor: the section `exportlint` of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from exportlint.config import ConfigError, Layer, check
from exportlint.config.toml import load

Precedence = Literal["editorFirst", "filesystemFirst", "editorOnly"]

_KEYS = {
    "lint.select": "select",
    "lint.extendSelect": "extend-select",
    "lint.ignore": "ignore",
    "mode": "mode",
    "torchVersion": "torch-version",
}
"""Settings of the editor that say what settings of files say."""


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
    layers: tuple[Layer, ...] = ()
    problems: tuple[str, ...] = ()

    @staticmethod
    def of(section: object, folder: Path) -> Preferences:
        """The preferences that a client sends, nested or with dots in its keys; paths are relative to `folder`."""
        given = dict(_flat(section, ""))
        problems: list[str] = []

        def one_of(key: str, *allowed: Any) -> Any:
            value = given.get(key)
            if value is not None and not any(type(value) is type(word) and value == word for word in allowed):
                listed = ", ".join(str(word).lower() for word in allowed)
                problems.append(f"`exportlint.{key}`: `{value}` is not one of {listed}")
                value = None
            return allowed[0] if value is None else value

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
            layers=tuple(_layers(given, section, folder, problems)),
            problems=tuple(problems),
        )


def _layers(given: Mapping[str, Any], section: object, folder: Path, problems: list[str]) -> list[Layer]:
    layers: list[Layer] = []
    configuration = section.get("configuration") if isinstance(section, Mapping) else None
    try:
        if isinstance(configuration, str) and configuration:
            file = folder / Path(configuration).expanduser()
            layer = load(file)
            if layer is None:
                raise ConfigError("has no table [tool.exportlint]", file)
            layers.append(layer)
        elif isinstance(configuration, Mapping):
            layers.append(Layer(folder, check(configuration, None)))
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


def _flat(value: object, prefix: str) -> list[tuple[str, object]]:
    if not isinstance(value, Mapping):
        return [(prefix, value)]
    found: list[tuple[str, object]] = []
    for key, inner in value.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        found += [(name, inner)] if name == "configuration" else _flat(inner, name)
    return found
