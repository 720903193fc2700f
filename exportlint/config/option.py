"""One setting, as parsing, `exportlint config`, the JSON schema and the docs see it."""

from __future__ import annotations

from dataclasses import dataclass

from exportlint.config.kinds import Kind


@dataclass(frozen=True, slots=True)
class Option:
    """One setting. `default` and `example` are as in TOML; an empty default means that the doc tells it."""

    key: str
    kind: Kind
    default: str
    doc: str
    example: str

    @property
    def attribute(self) -> str:
        """Its name in Python."""
        return self.key.replace("-", "_")
