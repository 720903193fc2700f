"""Configuration files as they are: which there are, what TOML they hold, and on which line a key stands."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exportlint.config.errors import ConfigError
from exportlint.config.options import OPTIONS
from exportlint.config.tables import SettingError, check_table, dotted
from exportlint.source import read_bounded

FILE_NAMES = (".exportlint.toml", "exportlint.toml", "pyproject.toml")
"""Where settings may stand, in this order within one directory."""

MAX_BYTES = 1 << 20
"""A configuration file that is larger is not read."""

_MAX_PARTS = 200
_DOTTED = re.compile(r"""[\w."' \t-]+""")

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?")
_KEY = re.compile(r""""[^"]*"|'[^']*'|[\w-]+""")
_ASSIGNMENT = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")

Steps = tuple[str | int, ...]
"""The way to a setting: keys of tables, indices of arrays."""


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
        raw = read_bounded(file, MAX_BYTES)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file) from None
    is_pyproject = file.name == "pyproject.toml"
    if is_pyproject and b"exportlint" not in raw:
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError("not UTF-8, which TOML requires", file, line) from None
    table = parse(text, file)
    if is_pyproject:
        table = table.get("tool", {}).get("exportlint")
        if table is None:
            return None
    if not isinstance(table, dict):
        raise ConfigError("`exportlint` must be a table: [tool.exportlint]", file)
    return Layer(base or file.parent, check(table, file, lambda path: line_of(text, (*_prefix(file), *path))), file)


def parse(text: str, file: Path | None = None) -> Any:
    """The TOML document `text`.

    Raises:
        ConfigError: it is none.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    # Reading a dotted key takes time that is quadratic in its parts.
    for run in _DOTTED.finditer(text):
        if run[0].replace("..", "").count(".") > _MAX_PARTS:
            row = text.count("\n", 0, run.start()) + 1
            raise ConfigError(f"a key has more than {_MAX_PARTS} parts", file, row)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = None if match is None else int(match[1] or text.rstrip().count("\n") + 1)
        message = str(error)[: match.start()] if match else str(error)
        raise ConfigError(f"not valid TOML: {message}", file, line) from None
    except ValueError as error:  # a number with thousands of digits
        raise ConfigError(f"not valid TOML: {str(error).partition(';')[0]}", file) from None
    except RecursionError:
        raise ConfigError("not valid TOML: nested too deeply", file) from None


def check(
    table: Mapping[str, Any], file: Path | None, line_of: Callable[[Steps], int | None] = lambda _path: None
) -> dict[str, Any]:
    """The settings of a table, each as `Settings` wants it.

    Raises:
        ConfigError: a key is unknown, or its value is not what it may hold.
    """
    try:
        return check_table(table, OPTIONS)
    except SettingError as error:
        raise ConfigError(str(error), file, line_of(error.path)) from None


def error_at(message: str, file: Path | None, path: Steps) -> ConfigError:
    """The error about a setting of a file that was read before, with the line of it as far as that can be told."""
    try:
        text = "" if file is None else read_bounded(file, MAX_BYTES).decode("utf-8-sig")
    except (OSError, ValueError):
        text = ""
    prefix = _prefix(file) if file is not None else ()
    return ConfigError(f"`{dotted(path)}`: {message}", file, line_of(text, (*prefix, *path)))


def _prefix(file: Path) -> tuple[str, ...]:
    return ("tool", "exportlint") if file.name == "pyproject.toml" else ()


def line_of(text: str, path: Steps) -> int | None:
    """The line, from 1, on which a setting stands, or what holds it, where that can be told without parsing."""
    found: int | None = None
    depth = 0
    arrays: Counter[Steps] = Counter()
    current: Steps = ()
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.fullmatch(line.rstrip("\r")):
            current = ()
            for name in _keys(header[2]):
                # `[a.b]` below `[[a]]` is about the last `a`
                current = (*current, arrays[current] - 1, name) if current in arrays else (*current, name)
            if header[1] == "[[":
                arrays[current] += 1
                current = (*current, arrays[current] - 1)
            here = current
        elif assignment := _ASSIGNMENT.match(line):
            here = (*current, *_keys(assignment[1]))
        else:
            continue
        shared = min(len(here), len(path))
        # Of the lines that hold it, that which says most; of equal ones the first.
        if here[:shared] == path[:shared] and shared > depth:
            found, depth = number, shared
    return found


def _keys(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _KEY.findall(text))
