"""The settings that go by severity: which findings are shown, and which make a run fail."""

from __future__ import annotations

from exportlint.config.kinds import BOOL, choice
from exportlint.config.option import Option

SEVERITY_OPTIONS = (
    Option(
        "min-severity",
        choice("info", "warning", "error"),
        '"warning"',
        "The lowest severity that is shown. Hidden findings are counted in the summary, are not fixed, and do not "
        "make a run fail. Editors and the formats `json` and `jsonl` include `info` findings unless this is set.",
        'min-severity = "error"',
    ),
    Option(
        "show-info",
        BOOL,
        "false",
        'Short for `min-severity = "info"`; `false` is short for `"warning"`. If a file sets both, `min-severity` '
        "wins.",
        "show-info = true",
    ),
    Option(
        "fail-on",
        choice("info", "warning", "error", "never"),
        '"warning"',
        "The lowest severity that makes `exportlint check` exit with 1. `info` also shows `info` findings, unless "
        "`min-severity` is set.",
        'fail-on = "error"',
    ),
)
