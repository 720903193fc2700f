"""Which lines differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from exportlint.server.line_differences import Difference, differences

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=30)


def patched(before: list[str], after: list[str], found: list[Difference]) -> list[str]:
    made = list(before)
    for start, end, new, new_end in reversed(found):
        made[start:end] = after[new:new_end]
    return made


@given(LINES, LINES)
def test_they_make_the_one_text_of_the_other(before: list[str], after: list[str]) -> None:
    found = list(differences(before, after))
    assert patched(before, after, found) == after
    assert found == sorted(found)
    assert all(before[start:end] != after[new:new_end] for start, end, new, new_end in found)


@given(LINES)
def test_there_are_none_between_a_text_and_itself(lines: list[str]) -> None:
    assert list(differences(lines, lines)) == []


def test_lines_that_are_the_same_stay() -> None:
    before, after = list("abXcdeYf"), list("abxxcdef")
    assert list(differences(before, after)) == [(2, 3, 2, 4), (6, 7, 7, 7)]


class Line(str):
    """A line that counts how often lines are compared."""

    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Line.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_long_texts_with_much_in_common_need_few_comparisons() -> None:
    before = [Line(line) for at in range(5_000) for line in (f"class {at}", "if", "return", "")]
    after = [Line(line) for at in range(5_000) for line in (f"class {at}", "where", "")]
    Line.comparisons = 0
    found = list(differences(before, after))
    assert Line.comparisons < 20 * len(before)
    assert len(found) == 5_000
    assert patched(list(before), list(after), found) == after
    assert len(list(differences(["same"] * 10_000, ["same", "other"] * 10_000))) == 1
