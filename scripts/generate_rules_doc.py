"""Write `docs/rules.md`, the rules in tables, from the catalogue's pages.

python scripts/generate_rules_doc.py [OUTPUT]
"""

from __future__ import annotations

import sys
from pathlib import Path

from exportlint.findings import Mode, Severity
from exportlint.pages import MODES, Page
from exportlint.registry import FAMILIES, Rule, all_rules, applicabilities, page

OUTPUT = Path(__file__).parents[1] / "docs" / "rules.md"

VERSION = "2.13"
"""The torch whose severities are shown."""

INTRODUCTION = f"""\
# Rules

<!-- Written by scripts/generate_rules_doc.py from the pages in rules/. -->

The severities are for torch {VERSION} in both modes of export. If there are several, the pattern decides. `—` means
nothing to report. A severity is a *claim* about torch.export: an error says that export raises, a warning that the
program differs from the module. The page of a rule has the severities for torch 2.4 to 2.15
([how they were measured](versioning.md#severities-follow-torch)), and says what to write instead.
[Fixes](fixes.md) are `safe`, `unsafe` or `display-only`; the page says when a fix is which.
"""


def document() -> str:
    """The text of `docs/rules.md`."""
    return "\n".join([INTRODUCTION, *(_family(key) for key in FAMILIES if _rules(key))])


def _rules(key: str) -> list[Rule]:
    return [rule for rule in all_rules() if rule.family == key]


def _family(key: str) -> str:
    family = FAMILIES[key]
    # What is wrong with a file, or with its comments, is wrong in every mode.
    modes = MODES if key != "EXP0" else ()
    columns = ["code", "name", "what it reports", "fixes", *modes]
    rows = [_row(rule, modes) for rule in _rules(key)]
    lines = [columns, ["---"] * len(columns), *rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"## {key}: {family.name}\n\n{family.description}.\n\n{table}"


def _row(rule: Rule, modes: tuple[Mode, ...]) -> list[str]:
    about = Page(rule.page_name, page(rule))
    link = f"[{rule.code}](../rules/{rule.page_name})"
    summary = about.summary.removeprefix("Reports ").replace("|", "\\|")
    fixes = ", ".join(applicabilities(about.text)) or "—"
    name = f"`{rule.name}`" if rule.status == "stable" else f"`{rule.name}` ({rule.status})"
    return [link, name, summary, fixes, *(_severities(about, mode) for mode in modes)]


def _severities(about: Page, mode: Mode) -> str:
    versions, rows = about.severities
    column = versions.index(VERSION)
    found = {row.severities[column] for row in rows if row.mode == mode}
    return ", ".join(severity.value for severity in Severity if severity in found) or "—"


if __name__ == "__main__":
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    output.write_text(document(), encoding="utf-8")
