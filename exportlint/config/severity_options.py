"""The settings that go by severity: which findings are shown, and which make a run fail."""

from __future__ import annotations

from exportlint.config.kinds import BOOL, choice
from exportlint.config.option import Option

SEVERITY_OPTIONS = (
    Option(
        "min-severity",
        choice("info", "warning", "error"),
        '"warning"',
        "The least severity that is shown. What is hidden is counted in the summary, is not fixed, and does not make a "
        "run fail. An editor, and the formats `json` and `jsonl`, hold `info` findings as well unless this is set.",
        'min-severity = "error"',
    ),
    Option(
        "show-info",
        BOOL,
        "false",
        'The same as `min-severity = "info"`, or `"warning"` where false; `min-severity` holds where a file sets both.',
        "show-info = true",
    ),
    Option(
        "fail-on",
        choice("info", "warning", "error", "never"),
        '"warning"',
        "The least severity of a finding that makes `exportlint check` exit with 1. With `info`, these are shown as "
        "well unless `min-severity` says otherwise.",
        'fail-on = "error"',
    ),
)
