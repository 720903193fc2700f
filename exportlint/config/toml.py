"""Configuration files as they are: which there are, what TOML they hold, and on which line a key stands."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exportlint.config.errors import ConfigError
from exportlint.config.options import OPTIONS
from exportlint.registry import nearest

FILE_NAMES = (".exportlint.toml", "exportlint.toml", "pyproject.toml")
"""Where settings may stand, in this order within one directory."""

_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?")


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place, checked, by key. Paths and patterns among them are relative to `base`."""

    base: Path
    values: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None


def load(file: Path, base: Path | None = None) -> Layer | None:
    """What `file` sets, or None if it is a `pyproject.toml` that says nothing about exportlint.

    Raises:
        ConfigError: it cannot be read, is not TOML, or has a key or value that does not exist.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file) from None
    is_pyproject = file.name == "pyproject.toml"
    if is_pyproject and b"exportlint" not in raw:
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError("not UTF-8, which TOML has to be", file, line) from None
    table = parse(text, file)
    path: tuple[str, ...] = ()
    if is_pyproject:
        path = ("tool", "exportlint")
        table = table.get("tool", {}).get("exportlint")
        if table is None:
            return None
    if not isinstance(table, dict):
        raise ConfigError("`exportlint` must be a table: [tool.exportlint]", file)
    return Layer(base or file.parent, check(table, file, lambda key: line_of(text, path, key)), file)


def parse(text: str, file: Path | None = None) -> Any:
    """The TOML document `text`.

    Raises:
        ConfigError: it is none.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = None if match is None else int(match[1] or text.rstrip().count("\n") + 1)
        message = str(error)[: match.start()] if match else str(error)
        raise ConfigError(f"not valid TOML: {message}", file, line) from None
    except RecursionError:
        raise ConfigError("not valid TOML: nested too deeply", file) from None


def check(table: Mapping[str, Any], file: Path | None, line_of_key: Any = lambda _key: None) -> dict[str, Any]:
    """The settings of a table, each as `Settings` wants it.

    Raises:
        ConfigError: a key is unknown, or its value is not what it may hold.
    """
    values = {}
    for key, value in table.items():
        option = OPTIONS.get(key)
        if option is None:
            hint = nearest(key.replace("_", "-"), OPTIONS, count=1)
            raise ConfigError(
                f"unknown setting `{key}`" + (f", did you mean {hint}?" if hint else ""), file, line_of_key(key)
            )
        try:
            values[key] = option.kind.check(value)
        except ValueError as error:
            raise ConfigError(f"`{key}`: {error}", file, line_of_key(key)) from None
    return values


def line_of(text: str, table: tuple[str, ...], key: str) -> int | None:
    """The line, from 1, on which `key` of a table is set, where that can be told without parsing."""
    assignment = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""")
    current: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.fullmatch(line.rstrip("\r")):
            current = tuple(part.strip().strip("\"'") for part in header[1].split("."))
            if current[: len(table) + 1] == (*table, key):
                return number
        elif current == table and assignment.match(line):
            return number
    return None
