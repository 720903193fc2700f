"""The settings that configuration files and options give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exportlint.config import Configuration, Settings


def settings(root: Path, directory: str = "", **options: Any) -> Settings:
    """Those of a directory below `root`, with the `options` of `Configuration`."""
    return Configuration(root, **options).for_directory(root / directory)
