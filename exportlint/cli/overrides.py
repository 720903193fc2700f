"""From flags to a `Configuration`: what the command line and the environment set, over what files set."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exportlint.cli.output import UsageError
from exportlint.config import ConfigError, Configuration, Layer, check, inline
from exportlint.config.severity import BY_FORMAT

_SAME_AS_KEYS = (
    "select", "ignore", "extend-select", "preview", "mode", "torch-version", "exclude", "extend-exclude",
    "force-exclude", "respect-gitignore", "require-reason", "follow-importers", "output-format", "fix",
    "unsafe-fixes", "fix-only", "show-fixes", "fixable", "unfixable", "extend-fixable", "min-severity", "fail-on",
    "baseline",
)  # fmt: skip

_DEFAULTS = Layer(Path(), {"min-severity": BY_FORMAT})
"""What holds on the command line where nothing says otherwise. An editor has room for all findings."""


def configuration(
    arguments: argparse.Namespace, cwd: Path, environment: Mapping[str, str] = os.environ
) -> Configuration:
    """The configuration for a run in `cwd`.

    Raises:
        ConfigError: a value does not exist, or the file that is named cannot be used.
        UsageError: the flags contradict each other.
    """
    files: list[Path] = []
    layers: list[Layer] = []
    for text in arguments.config or ():
        path = Path(text)
        if os.path.isfile(path):  # noqa: PTH113 - a value may be longer than any file name
            files.append(cwd / path)
        elif "=" in text:
            layers.append(inline(text, cwd))
        else:
            raise UsageError(f"--config `{text}`: there is no such file, and it is not `KEY = VALUE` either")
    if len(files) > 1:
        raise UsageError(f"--config: only one file can be given, not {' and '.join(map(str, files))}")
    if files and arguments.isolated:
        raise UsageError("--isolated reads no configuration file, so --config cannot name one")
    if name := environment.get("EXPORTLINT_OUTPUT_FORMAT"):
        layers.append(_layer({"output-format": name}, cwd, "EXPORTLINT_OUTPUT_FORMAT"))
    for key in _SAME_AS_KEYS:
        value = getattr(arguments, key.replace("-", "_"), None)
        if value is not None:
            layers.append(_layer({key: value}, cwd, f"--{key}"))
    for key in ("per-file-ignores", "extend-per-file-ignores"):
        pairs = getattr(arguments, key.replace("-", "_"), None)
        if pairs is not None:
            layers.append(_layer({key: _by_pattern(key, pairs)}, cwd, f"--{key}"))
    if getattr(arguments, "show_info", False):
        if getattr(arguments, "min_severity", None) not in (None, "info"):
            raise UsageError("--show-info cannot be used together with --min-severity")
        layers.append(_layer({"min-severity": "info"}, cwd, "--show-info"))
    if getattr(arguments, "watch", False):  # who edits a file does not want it rewritten
        layers.append(Layer(cwd, {"fix": False, "fix-only": False}))
    merged = Layer(cwd, {key: value for layer in layers for key, value in layer.values.items()})
    return Configuration(
        cwd, file=files[0] if files else None, isolated=arguments.isolated, overrides=(merged,), defaults=(_DEFAULTS,)
    )


def _layer(values: dict[str, Any], cwd: Path, origin: str) -> Layer:
    try:
        return Layer(cwd, check(values, None))
    except ConfigError as error:
        # Whoever used a flag knows its name, not that of the setting.
        raise UsageError(f"{origin}: {str(error).partition('`: ')[2]}") from None


def _by_pattern(key: str, pairs: list[str]) -> dict[str, list[str]]:
    ignores: dict[str, list[str]] = {}
    for pair in pairs:
        pattern, colon, rule = pair.rpartition(":")
        if not colon or not pattern:
            raise UsageError(f"--{key} `{pair}`: expected PATTERN:RULE, such as `tests/**:EXP101`")
        ignores.setdefault(pattern, []).append(rule)
    return ignores
