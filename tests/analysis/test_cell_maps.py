"""Mappings of cells that share entries hold what dictionaries would."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exportlint.analysis.domain import cell_maps
from exportlint.analysis.domain.cell_maps import SharedCells, differing, owned, updated, without
from exportlint.analysis.domain.heap import Cell

OWNERS = (object(), object(), object())
CELLS = st.builds(Cell, st.sampled_from(OWNERS), st.sampled_from("xyz"))
STEP = st.tuples(st.integers(0, 99), st.sampled_from(("update", "remove")), st.lists(CELLS, max_size=4))


@settings(deadline=None)
@given(st.lists(STEP, max_size=12))
def test_they_are_what_dictionaries_are(steps: list[tuple[int, str, list[Cell]]]) -> None:
    made: list[tuple[Mapping[Cell, object], dict[Cell, object]]] = [({}, {})]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_maps, "LARGE", 2)
        patch.setattr(cell_maps, "MAX_RECENT", 3)
        for number, step, cells in steps:
            shared, plain = made[number % len(made)]
            if step == "update":
                entries = {cell: object() for cell in cells}
                made.append((updated(shared, entries), plain | entries))
            else:
                gone = [cell for cell in dict.fromkeys(cells) if cell in plain]
                made.append((without(shared, gone), {c: v for c, v in plain.items() if c not in gone}))
        for shared, plain in made:
            assert dict(shared) == plain
            assert len(shared) == len(plain)
            assert all(shared.get(cell) is value and cell in shared for cell, value in plain.items())
            assert set(owned(shared, OWNERS[:2])) == {cell for cell in plain if cell.owner in OWNERS[:2]}
        for one, mine in made:
            for other, theirs in made:
                assert (one == other) == (mine == theirs)
                assert set(differing(one, other)) == {c for c in {*mine, *theirs} if mine.get(c) is not theirs.get(c)}


def test_copies_of_a_large_one_share_their_entries() -> None:
    cells = {Cell("owner", str(number)): object() for number in range(cell_maps.LARGE)}
    found = updated(cells, {Cell("owner", "new"): object()})
    later = updated(found, {Cell("owner", "newer"): object()})
    assert isinstance(found, SharedCells)
    assert isinstance(later, SharedCells)
    assert later.recent_with(found) == {Cell("owner", "newer"): None}
