"""Immutable mappings of cells. Copies of a large one with a few entries changed share all others.

A small mapping is a plain dictionary: no other is as fast. A method that writes a thousand attributes has a thousand
heaps, of which fixes look at many: so a large one is `SharedCells`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from exportlint.analysis.domain.heap import Cell

V = TypeVar("V")

LARGE = 256
"""Cells of a mapping that is more than a dictionary."""
MAX_RECENT = 128
"""Entries in which copies that share the others may differ."""


class _Gone:
    """Stands for an entry that was removed."""


_GONE = _Gone()


class _Common(dict["Cell", V]):
    """Entries that several mappings share, and their cells by owner. Never changed."""

    _by_owner: dict[object, list[Cell]] | None = None

    def owned(self, owner: object) -> Iterable[Cell]:
        if self._by_owner is None:
            self._by_owner = {}
            for cell in self:
                self._by_owner.setdefault(cell.owner, []).append(cell)
        return self._by_owner.get(owner, ())


class SharedCells(Mapping["Cell", V]):
    """Entries that other mappings have, too, and those in which this one differs."""

    __slots__ = ("_common", "_recent")

    def __init__(self, common: _Common[V], recent: dict[Cell, V | _Gone]) -> None:
        self._common = common
        self._recent = recent

    def __getitem__(self, cell: Cell) -> V:
        found = self._recent.get(cell)
        if found is None:
            return self._common[cell]
        if isinstance(found, _Gone):
            raise KeyError(cell)
        return found

    def __contains__(self, cell: object) -> bool:
        found = self._recent.get(cell)  # type: ignore[call-overload]
        return cell in self._common if found is None else found is not _GONE

    def __iter__(self) -> Iterator[Cell]:
        recent = self._recent
        yield from (cell for cell in self._common if recent.get(cell) is not _GONE)
        yield from (cell for cell, value in recent.items() if value is not _GONE and cell not in self._common)

    def __len__(self) -> int:
        common = self._common
        return len(common) + sum((cell in self) - (cell in common) for cell in self._recent)

    def updated(self, entries: Mapping[Cell, V]) -> SharedCells[V]:
        """A copy with some entries changed."""
        return self._with(entries)

    def without(self, cells: Collection[Cell]) -> SharedCells[V]:
        """A copy without some cells, which are there."""
        return self._with(dict.fromkeys(cells, _GONE))

    def _with(self, entries: Mapping[Cell, V] | Mapping[Cell, _Gone]) -> SharedCells[V]:
        recent = {**self._recent, **entries}
        found = SharedCells(self._common, recent)
        return found if len(recent) <= MAX_RECENT else SharedCells(_Common(found.items()), {})

    def owned(self, owner: object) -> list[Cell]:
        """The cells of one owner."""
        common = self._common
        found = [cell for cell in common.owned(owner) if cell in self]
        return found + [cell for cell in self._recent if cell.owner is owner and cell in self and cell not in common]

    def recent_with(self, other: SharedCells[V]) -> dict[Cell, None] | None:
        """The cells in which two mappings may differ, those of the other one first; None if they share nothing."""
        return None if self._common is not other._common else dict.fromkeys((*other._recent, *self._recent))


def updated(cells: Mapping[Cell, V], entries: Mapping[Cell, V]) -> Mapping[Cell, V]:
    """A copy with some entries changed."""
    if isinstance(cells, SharedCells):
        return cells.updated(entries)
    found = {**cells, **entries}
    return found if len(found) < LARGE else SharedCells(_Common(found), {})


def without(cells: Mapping[Cell, V], gone: Collection[Cell]) -> Mapping[Cell, V]:
    """A copy without some cells, which are there; the mapping itself if these are none."""
    if not gone:
        return cells
    if isinstance(cells, SharedCells):
        return cells.without(gone)
    return {cell: value for cell, value in cells.items() if cell not in gone}


def owned(cells: Mapping[Cell, V], owners: Collection[object]) -> list[Cell]:
    """The cells of some owners."""
    if isinstance(cells, SharedCells):
        return [cell for owner in owners for cell in cells.owned(owner)]
    return [cell for cell in cells if cell.owner in owners]


def differing(one: Mapping[Cell, V], other: Mapping[Cell, V]) -> list[Cell]:
    """The cells that do not hold the same object in two mappings: those that the other one has first."""
    if one is other:
        return []
    shared = one.recent_with(other) if isinstance(one, SharedCells) and isinstance(other, SharedCells) else None
    if shared is None:
        found = [cell for cell, theirs in other.items() if one.get(cell) is not theirs]
        return found + [cell for cell in one if cell not in other]
    found = [cell for cell in shared if cell in other and one.get(cell) is not other[cell]]
    return found + [cell for cell in shared if cell in one and cell not in other]
