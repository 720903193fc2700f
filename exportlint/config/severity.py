"""What the settings that go by severity come to over several layers."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.config.toml import Layer
from exportlint.findings import Severity

DATA_FORMATS = frozenset({"json", "jsonl"})
"""The output formats for programs, which can filter findings themselves."""

BY_FORMAT = "by-format"
"""A least severity that the output format decides: programs get all findings, people errors and warnings."""


def least_shown(layers: Sequence[Layer], output_format: str) -> Severity:
    """The least severity that is shown: what the last layer says that says anything, else all."""
    for layer in reversed(layers):
        if layer.values.get("min-severity") == BY_FORMAT:
            return Severity.INFO if output_format in DATA_FORMATS else Severity.WARNING
        if "min-severity" in layer.values:
            return Severity(layer.values["min-severity"])
        if "show-info" in layer.values:
            return Severity.INFO if layer.values["show-info"] else Severity.WARNING
        if layer.values.get("fail-on") == "info":
            return Severity.INFO
    return Severity.INFO


def least_failing(layers: Sequence[Layer]) -> Severity | None:
    """The least severity that makes a run fail, None for never."""
    for layer in reversed(layers):
        if "fail-on" in layer.values:
            word = layer.values["fail-on"]
            return None if word == "never" else Severity(word)
    return Severity.WARNING
