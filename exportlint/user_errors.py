"""The one error of configuration: what is wrong, and where."""

from __future__ import annotations

from pathlib import Path


class ConfigError(Exception):
    """Settings that cannot be used. Its text is one line: the file, the line if known, and what to write instead.

    `message` is that without the place, `line` counts from 1.
    """

    def __init__(self, message: str, file: Path | None = None, line: int | None = None) -> None:
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + message)
        self.message = message
        self.file = file
        self.line = line
