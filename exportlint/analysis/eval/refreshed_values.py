"""What containers hold now, kept for as long as the cells that this depends on stay as they are."""

from __future__ import annotations

from collections.abc import Mapping

from exportlint.analysis.domain.allocations import refreshed
from exportlint.analysis.domain.heap import Cell, Change
from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import Value

MAX_KEPT = 4_096
"""Values that are kept with what they are now. With more, all are forgotten."""


class Refreshed:
    """Values with what their containers were last found to hold, and the changes of cells that told so."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Value, Value, list[tuple[Cell, Change | None]]]] = {}

    def of(self, value: Value, changes: Mapping[Cell, Change]) -> Value:
        """A value with what its containers hold where these cells have changed."""
        return refreshed(value, changes, join, self)

    def find(self, value: Value, changes: Mapping[Cell, Change]) -> Value | None:
        """What a value was refreshed to, if that holds for these changes as well."""
        known = self._known.get(id(value))  # the value is kept, so that its id is
        if known is None or not all(changes.get(cell) is change for cell, change in known[2]):
            return None
        return known[1]

    def keep(self, value: Value, found: Value, changes: Mapping[Cell, Change]) -> None:
        """Remember what a value is refreshed to."""
        if len(self._known) >= MAX_KEPT:
            self._known.clear()
        cells = [allocation.cell for allocation in value.reaches | found.reaches]
        self._known[id(value)] = value, found, [(cell, changes.get(cell)) for cell in cells]
