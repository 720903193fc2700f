"""What the settings say about `exportlint verify`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exportlint.config.errors import ConfigError
from exportlint.config.toml import Layer, error_at


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """One table of `verify.target`, by its keys. Paths in it are relative to `base`; `file` is where it stands.

    See `exportlint.config.verify_options` for what each key means.
    """

    values: Mapping[str, Any] = field(hash=False)
    base: Path
    file: Path | None = None
    index: int = 0

    def error(self, message: str, *keys: str) -> ConfigError:
        """The error that one of its keys is wrong."""
        return error_at(message, self.file, ("verify", "target", self.index, *keys))


@dataclass(frozen=True, slots=True)
class VerifySettings:
    """How models are run, `timeout` in seconds and `memory` in bytes, and which. `python` is a path or a command."""

    python: str | None
    timeout: float
    memory: int | None
    jobs: int
    calls: bool
    targets: tuple[TargetSettings, ...]

    def described(self) -> list[tuple[str, object]]:
        """Each that is set by its key, but for the targets, which `exportlint verify --list` shows."""
        values = {
            "python": self.python,
            "timeout": self.timeout,
            "memory": self.memory,
            "jobs": self.jobs,
            "calls": self.calls,
        }
        return [(f"verify.{key}", value) for key, value in values.items() if value is not None]


def verify_settings(layers: Sequence[Layer]) -> VerifySettings:
    """What `layers` give together; a later one overrides the earlier ones, key by key."""
    nothing: Mapping[str, Any] = {}

    def last(key: str, default: Any) -> Any:
        stating = (layer.values.get("verify", nothing) for layer in reversed(layers))
        return next((values[key] for values in stating if key in values), default)

    def base_of(key: str) -> Layer:
        return next(layer for layer in reversed(layers) if key in layer.values.get("verify", nothing))

    python = last("python", None)
    if python is not None and (os.sep in python or "/" in python):
        python = os.path.normpath(base_of("python").base / Path(python).expanduser())
    targets = tuple(
        TargetSettings(values, (layer := base_of("target")).base, layer.file, index)
        for index, values in enumerate(last("target", ()))
    )
    return VerifySettings(
        python, last("timeout", 300.0), last("memory", None), last("jobs", 1), last("calls", False), targets
    )
