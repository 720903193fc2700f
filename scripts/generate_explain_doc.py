"""Measure `exportlint explain` on the recorded errors, and write the table of docs/explain.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PAGE = PROJECT / "docs" / "explain.md"
_TABLE = re.compile(r"^\| errors .*?(?=^\n)", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Rewrite the table."""
    sys.path.insert(0, str(PROJECT))
    from tests.diagnosis.measuring import table

    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(table() + "\n", text), encoding="utf-8")


if __name__ == "__main__":
    main()
