"""The catalogue's pages as an editor shows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from exportlint.registry import Rule
from exportlint.report.rule_page import readable

__all__ = ["Summary", "readable", "summary"]


@dataclass(frozen=True)
class Summary:
    """What a page says in two paragraphs: what the rule reports, and why. Empty where there is no page."""

    what: str = ""
    why: str = ""


@cache
def summary(rule: Rule) -> Summary:
    """The page of a rule in short."""
    try:
        text = readable(rule)
    except FileNotFoundError:  # what is found can be told without it
        return Summary()
    return Summary(_first_paragraph(text, "What it does"), _first_paragraph(text, "Why is this bad?"))


def _first_paragraph(text: str, heading: str) -> str:
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    paragraph = " ".join(section.strip().partition("\n\n")[0].split())
    return f"{paragraph.removesuffix(':')}." if paragraph.endswith(":") else paragraph
