"""What fixes make of sources that are hard to edit, as the documents in this folder tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.fixer import fix
from exportlint.linter import lint
from tests.fixes.rewrites import Rewrite, rewrites
from tests.sampling import one_in

CASES = [case for document in sorted(Path(__file__).parent.glob("*.md")) for case in rewrites(document)]


@pytest.mark.parametrize("case", one_in(6, CASES), ids=lambda case: case.name)
def test_rewrite(case: Rewrite, tmp_path: Path) -> None:
    task = case.task(tmp_path)
    if not case.after:
        assert [f.fix for f in lint([task]).findings if f.fix is not None] == []
    for most, expected in (case.after or {}).items():
        (fixed,) = fix([task], lambda _, most=most: most).tasks  # type: ignore[misc]
        assert fixed.read().text == expected
        compile(expected, "case.py", "exec")
