"""Several files lead to one finding in a helper: its fix is no safer than each of them can tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exportlint.findings import Applicability, Edit, Finding, Fix, Position, Severity, Span
from exportlint.linter import merge
from exportlint.workspace import Unit
from tests.fixer.words import tasks

PLACE = Span(Position(1, 1), Position(1, 2))
SAFE = Fix(Applicability.SAFE, "a", (Edit(PLACE, "a"),))
UNSAFE = replace(SAFE, applicability=Applicability.UNSAFE)
OTHER = replace(SAFE, edits=(Edit(PLACE, "b"),))
SHOWN = replace(SAFE, applicability=Applicability.DISPLAY_ONLY)


@pytest.mark.parametrize(
    ("fixes", "agreed"),
    [
        ([SAFE, SAFE], SAFE),
        ([SAFE, UNSAFE], UNSAFE),
        ([SAFE, None], UNSAFE),
        ([SAFE, OTHER], replace(OTHER, applicability=Applicability.UNSAFE)),
        ([None, None], None),
    ],
)
def test_the_fix_that_files_agree_on(fixes: list[Fix | None], agreed: Fix | None, tmp_path: Path) -> None:
    files = tasks(tmp_path, {"helper.py": "x", "b.py": "x"})
    found = Finding("EXP101", "tensor-branch", Severity.ERROR, "m", files[0].filename, PLACE)
    units = [Unit((replace(found, fix=fix),)) for fix in fixes]
    for order in (units, units[::-1]):
        (one,) = merge(files, order)
        assert one.fix == agreed


@pytest.mark.parametrize(
    ("own", "other", "agreed"),
    [
        (UNSAFE, "pending", UNSAFE),
        (UNSAFE, SHOWN, UNSAFE),
        (UNSAFE, SAFE, UNSAFE),
        (UNSAFE, None, UNSAFE),
        (SHOWN, UNSAFE, SHOWN),
        (None, UNSAFE, UNSAFE),
        ("pending", SAFE, "pending"),
        ("pending", None, "pending"),
        (None, "pending", "pending"),
    ],
)
def test_who_was_asked_already_makes_no_difference(
    own: Fix | str | None, other: Fix | str | None, agreed: Fix | str | None, tmp_path: Path
) -> None:
    files = tasks(tmp_path, {"b.py": "x", "a.py": "x"})
    found = Finding("EXP101", "tensor-branch", Severity.ERROR, "m", files[0].filename, PLACE)

    def of(fix: Fix | str | None) -> Finding:
        return replace(found, fix_pending=True) if isinstance(fix, str) else replace(found, fix=fix)

    assert merge(files, [Unit((of(own),)), Unit((of(other),))]) == (of(agreed),)
