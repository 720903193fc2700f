"""What README.md, CONTRIBUTING.md and docs/usage.md show."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
USAGE = (PROJECT / "docs" / "usage.md").read_text(encoding="utf-8")
CONTRIBUTING = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(heading: str, language: str, page: str = README) -> list[str]:
    """The fenced blocks in a language under a heading."""
    (section,) = re.findall(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", page, re.MULTILINE | re.DOTALL)
    found = re.findall(rf"^ *(`{{3,}}){language}\n(.*?)^ *\1$", section, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _, block in found]
