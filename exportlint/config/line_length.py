"""How long the formatter of a project lets lines be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exportlint.config.errors import ConfigError
from exportlint.config.toml import MAX_BYTES, parse
from exportlint.source.bounded import read_bounded

DEFAULT = 88
"""Of Black and Ruff."""


def detect_line_length(root: Path) -> int:
    """What tells Ruff or Black so in a directory, or in the closest one above it. A broken file tells nothing."""
    for directory in (root, *root.parents):
        for name, tables in (
            ("ruff.toml", ((),)),
            (".ruff.toml", ((),)),
            ("pyproject.toml", (("tool", "ruff"), ("tool", "black"))),
        ):
            document = _read(directory / name)
            for path in tables:
                table: Any = document
                for key in path:
                    table = table.get(key) if isinstance(table, dict) else None
                length = table.get("line-length", table.get("line_length")) if isinstance(table, dict) else None
                if type(length) is int and length > 0:
                    return length
    return DEFAULT


def _read(file: Path) -> Any:
    try:
        raw = read_bounded(file, MAX_BYTES)
        return parse(raw.decode("utf-8-sig")) if b"line" in raw else None
    except (OSError, ValueError, ConfigError):
        return None
