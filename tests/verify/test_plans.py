"""What a plan decides by: how far runs got, and which fixes of a group are needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.verify.plans.progress import Progress, Rows, progress
from exportlint.verify.results import Comparison, Failure, Frame, Run, Verdict
from exportlint.verify.subsets import smallest

FILE = Path("/project/net.py")
BEFORE = b"a\na\nb\nif c:\n    d\ne\nf\ng\nh\n"
AFTER = b"import torch\na\na\nb\ndef c():\n    d\n    return d\ncall(c)\ne\nf\ng\nh\n"


def fails(*rows: int, message: str = "Could not guard on u0 > 1", function: str = "forward") -> Run:
    frames = tuple(Frame(str(FILE), row, function) for row in rows)
    return run("fails", Failure("export", "GuardOnDataDependentSymNode", message, frames))


def run(verdict: Verdict, *failures: Failure, differs: Sequence[str] = ()) -> Run:
    comparisons = tuple(Comparison("size", label, "diverges") for label in differs)
    return Run("net:Net", "non-strict", "cpu", verdict, failures=failures, comparisons=comparisons)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (fails(4), run("exports"), Progress.FURTHER),
        (fails(4), run("diverges"), Progress.ELSEWHERE),
        (run("narrower"), fails(4), Progress.BACK),
        (fails(4), run("times out"), Progress.BACK),
        # rows 5 to 8 are what became of rows 4 and 5
        (fails(4), fails(6), Progress.SAME),
        (fails(4), fails(8), Progress.SAME),
        (fails(4), fails(6, message="Could not guard on u7 > 1"), Progress.SAME),
        (fails(4), fails(6, message="Cannot mutate"), Progress.ELSEWHERE),
        (fails(4), fails(9), Progress.FURTHER),
        (fails(4), fails(4), Progress.BACK),
        (fails(6), fails(9), Progress.SAME),
        (fails(9), fails(12), Progress.SAME),
        (fails(9), fails(9), Progress.BACK),
        # the outer statement comes first
        (fails(4, 9), fails(6, 12), Progress.SAME),
        (fails(4, 9), fails(9, 3), Progress.FURTHER),
        (fails(4, 9), fails(6, 11), Progress.BACK),
        (fails(4, 9), fails(6), Progress.ELSEWHERE),
        (fails(4), fails(6, function="helper"), Progress.ELSEWHERE),
        (fails(), fails(), Progress.SAME),
        (fails(), fails(message="Cannot mutate"), Progress.ELSEWHERE),
        (run("diverges", differs=["a", "b"]), run("diverges", differs=["a"]), Progress.FURTHER),
        (run("diverges", differs=["a"]), run("diverges", differs=["a"]), Progress.SAME),
        (run("diverges", differs=["a"]), run("diverges", differs=["a", "b"]), Progress.BACK),
        (run("diverges", differs=["a"]), run("diverges", differs=["b"]), Progress.ELSEWHERE),
    ],
)  # fmt: skip
def test_how_runs_compare(before: Run, after: Run, expected: Progress) -> None:
    assert progress([before], [after], (lambda _: BEFORE, lambda _: AFTER)) is expected


def test_several_runs_are_as_good_as_the_worst() -> None:
    texts = (lambda _: BEFORE, lambda _: BEFORE)
    further, same, back = (fails(3), fails(5)), (fails(3), fails(3)), (fails(5), fails(3))
    for pairs, expected in (
        ([further, same], Progress.FURTHER),
        ([further, back], Progress.BACK),
        ([same, same], Progress.SAME),
    ):
        assert progress([a for a, _ in pairs], [b for _, b in pairs], texts) is expected


def test_rows_that_stay_are_followed() -> None:
    rows = Rows(lambda _: BEFORE, lambda _: AFTER)
    assert [rows.after(FILE, row) for row in (1, 3, 6, 9)] == [range(2, 3), range(4, 5), range(9, 10), range(12, 13)]


@given(st.sets(st.integers(0, 11)), st.integers(1, 12))
def test_a_needed_part_has_nothing_too_much(needed: set[int], count: int) -> None:
    items = list(range(count))

    def holds(some: Sequence[int]) -> bool:
        assert len(set(some)) == len(some)
        return needed & set(items) <= set(some)

    found = smallest(items, holds)
    assert set(found) == (needed & set(items) or {found[0]})


def test_a_part_that_more_would_break_is_found() -> None:
    assert smallest([1, 2, 3, 4], lambda some: set(some) == {1, 2, 3, 4}) == [1, 2, 3, 4]
    assert smallest([], lambda _: False) == []
