"""What running classes gave before an edit, which is told of them until they are run again.

An edit in a layer concerns all models that use it, and to run these can take seconds. Meanwhile most of what was found
in them is as true as it was, and only of the edited lines nothing is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from exportlint.analysis.incremental.class_results import ClassResult, Key, Mover, Rows
from exportlint.source.reparsing import common_prefix, common_suffix
from exportlint.syntax.chunks import Outline, Shift
from exportlint.syntax.definitions import Module


@dataclass(frozen=True, slots=True)
class Version:
    """The files that results are of, by path. One that could not be parsed has a number and no module."""

    outlines: Mapping[str, Outline | int]
    modules: Mapping[str, Module]

    def rows(self, after: Version) -> dict[str, Rows]:
        """Where the rows are now of the files that changed."""
        found: dict[str, Rows] = {}
        for path, outline in self.outlines.items():
            now = after.outlines[path]
            if isinstance(outline, Outline) and isinstance(now, Outline) and now is not outline:
                found[after.modules[path].filename] = _EditedRows(outline, now, self.modules[path], after.modules[path])
        return found


@dataclass(slots=True)
class EarlierResults:
    """The last results of classes that have to be run again, though their own text has not changed."""

    _known: dict[Key, tuple[ClassResult, Version]] = field(default_factory=dict)

    def add(self, results: Mapping[Key, ClassResult], version: Version) -> None:
        """Keep some results, which are of a version."""
        self._known |= {key: (result, version) for key, result in results.items()}

    def remove(self, keys: Iterable[Key]) -> None:
        """Leave out those of some classes."""
        for key in keys:
            self._known.pop(key, None)

    def retain(self, keys: Collection[Key]) -> None:
        """Leave out all but those of some classes."""
        self._known = {key: known for key, known in self._known.items() if key in keys}

    def __contains__(self, key: Key) -> bool:
        """Whether there is a result of a class."""
        return key in self._known

    def get(self, key: Key) -> ClassResult | None:
        """The result of a class, as it was; None if there is none."""
        known = self._known.get(key)
        return None if known is None else known[0]

    def seconds(self, key: Key) -> float:
        """How much processor time it took to run a class."""
        return self._known[key][0].seconds

    def now(self, keys: Iterable[Key], version: Version) -> dict[Key, ClassResult]:
        """The results of some classes, without what was found in lines that are gone."""
        movers: dict[int, tuple[Mover, Mover]] = {}
        found: dict[Key, ClassResult] = {}
        for key in keys:
            result, before = self._known[key]
            if id(before) not in movers:
                rows = before.rows(version)
                ways = Mover({name: _Nearest(one) for name, one in rows.items()})
                movers[id(before)] = Mover(rows, ways), ways
            places, ways = movers[id(before)]
            found[key] = replace(result, facts=tuple(places.facts(result)), calls=ways.calls(result.calls))
        return found


class _EditedRows:
    """Of the chunks that both versions have, and of the lines around an edit in others."""

    def __init__(self, before: Outline, after: Outline, module: Module, later: Module) -> None:
        old, new = module.source.text, later.source.text
        start = old.rfind("\n", 0, common_prefix(old, new)) + 1
        end = common_suffix(old, new, min(len(old), len(new)) - start)
        self._shift = Shift(before, after)
        last = module.source.lines.position(len(old) - end)
        new_last = later.source.lines.position(len(new) - end)
        self._first = module.source.lines.position(start).row
        self._last = last.row - (last.column == new_last.column == 1)
        self._further = new_last.row - last.row

    def by(self, row: int) -> int | None:
        rows = self._shift.by(row)
        if rows is not None:
            return rows
        if row < self._first:
            return 0
        return self._further if row > self._last else None


class _Nearest:
    """Rows, with those that are gone where the edit begins."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def by(self, row: int) -> int | None:
        return self._rows.by(row) or 0
