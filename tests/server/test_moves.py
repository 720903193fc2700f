"""Places of a text are followed into a later version of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.findings import Position
from exportlint.server.moves import Moves

BEFORE = "import torch\nif x.sum() > 0:\n    pass\nlast"

MOVED = {
    "nothing": (BEFORE, (2, 4), (2, 4)),
    "lines above": ("\n\n" + BEFORE, (2, 4), (4, 4)),
    "a line taken above": (BEFORE.replace("import torch\n", ""), (2, 4), (1, 4)),
    "lines below": (BEFORE + "\nmore", (2, 4), (2, 4)),
    "text before it in the line": (BEFORE.replace("if x", "elif x"), (2, 4), (2, 6)),
    "text right before it": (BEFORE.replace("if x", "if (x"), (2, 4), (2, 5)),
    "changed and moved": (BEFORE.replace("if x", "\n\nelif x"), (2, 4), (4, 6)),
    "another line": (BEFORE.replace("if x.sum() > 0:", "pass"), (2, 4), None),
    "text behind it in the line": (BEFORE.replace("0:", "0"), (2, 4), (2, 4)),
    "text inside of it": (BEFORE.replace("sum()", "sum(("), (2, 15), (2, 15)),
    "another end of lines": (BEFORE.replace("\n", "\r\n"), (3, 5), (3, 5)),
    "the line itself taken": (BEFORE.replace("if x.sum() > 0:\n", ""), (2, 4), None),
}

LINES = st.lists(st.text("ab (:", max_size=5), max_size=12)


@pytest.mark.parametrize(("after", "place", "expected"), MOVED.values(), ids=list(MOVED))
def test_where_a_place_is_now(after: str, place: tuple[int, int], expected: tuple[int, int] | None) -> None:
    assert Moves(BEFORE, after).position(Position(*place)) == (expected and Position(*expected))


@given(LINES, LINES)
def test_every_place_is_one_of_the_later_text(before: list[str], after: list[str]) -> None:
    moves = Moves("\n".join(before), "\n".join(after))
    rows = "\n".join(after).split("\n")
    for row, line in enumerate("\n".join(before).split("\n"), start=1):
        places = [moves.position(Position(row, column)) for column in range(1, len(line) + 2)]
        for place in places:
            if place is not None:
                assert 1 <= place.row <= len(rows)
                assert 1 <= place.column <= len(rows[place.row - 1]) + 1
        found = [place for place in places if place is not None]
        assert found == sorted(found)
        assert len(found) in (0, len(places))


@given(LINES, st.integers(0, 12), LINES)
def test_lines_that_are_put_between_move_those_below(before: list[str], at: int, new: list[str]) -> None:
    unique = [f"{number}{line}" for number, line in enumerate(before)]
    at = min(at, len(unique))
    moves = Moves("\n".join(unique), "\n".join([*unique[:at], *(f"new{line}" for line in new), *unique[at:]]))
    for row in range(1, len(unique) + 1):
        assert moves.position(Position(row, 1)) == Position(row + (len(new) if row > at else 0), 1)
