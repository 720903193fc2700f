"""The pages of the catalogue, and what runs their blocks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from exportlint.pages import Page

DIRECTORY = Path(__file__).parents[2] / "rules"


@cache
def pages() -> tuple[Page, ...]:
    """Every page of the catalogue."""
    return tuple([Page(path.name, path.read_text(encoding="utf-8")) for path in sorted(DIRECTORY.glob("*.md"))])
