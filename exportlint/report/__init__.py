"""Findings as text for people and for programs: one module a format."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from exportlint.findings import Finding
from exportlint.report import statistics
from exportlint.report.cells import in_cells
from exportlint.report.context import Context
from exportlint.report.summary import (
    baselined,
    cut_short,
    fixable,
    fixed_list,
    fixes_only,
    hidden,
    limits,
    summary,
    unmatched,
    unread,
    unresolved,
)
from exportlint.report.trails import shortened

TEXT_FORMATS = frozenset({"full", "concise", "grouped"})
"""The formats for people: they end with a summary, take colour, and name files relative to the working directory."""

WITHOUT_FIXES = frozenset({"github", "gitlab", "azure", "junit", "pylint"})
"""The formats that do not say which findings have fixes."""

WITH_FINGERPRINTS = frozenset({"sarif", "gitlab"})
"""The formats that name findings across runs."""

__all__ = [
    "TEXT_FORMATS",
    "WITHOUT_FIXES",
    "WITH_FINGERPRINTS",
    "Context",
    "baselined",
    "cut_short",
    "fixable",
    "fixed_list",
    "fixes_only",
    "hidden",
    "in_cells",
    "limits",
    "render",
    "shortened",
    "statistics",
    "summary",
    "unmatched",
    "unread",
    "unresolved",
]


def render(findings: Sequence[Finding], output_format: str, context: Context) -> str:
    """The report, each line with its line end. `output_format` is one of `exportlint.config.options.FORMATS`."""
    module = importlib.import_module(f"exportlint.report.{'json_' if output_format == 'json' else output_format}")
    text: str = module.render(findings, context)
    return text
