"""What running the entry points of a class gave, under what it is kept, and where the code is now that it speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Protocol

from exportlint.analysis.domain.exported_as import UNSPECIFIED, ExportedAs
from exportlint.analysis.domain.trails import Route, Site, Trail
from exportlint.analysis.eval.call_graph import CallRecord
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.order import FactKey, Identity
from exportlint.analysis.facts.plain import made_with
from exportlint.syntax.chunks import Chunk, Outline
from exportlint.syntax.definitions import Class, Module
from exportlint.syntax.inputs import Record

Key = tuple[Chunk, int]
"""A class: its chunk, and which of the classes in it."""


@dataclass(frozen=True, slots=True)
class ClassResult:
    """What running the entry points of a class gave: its facts by their identities, and which calls lead to them.

    `reads` is what was read and asked meanwhile. `exported_as` is what code around the class says.
    `is_model`: an importer can export it, in a result that is kept. `seconds` is the processor time that it took.
    """

    facts: tuple[tuple[FactKey, Fact], ...]
    calls: CallRecord
    closure: frozenset[Chunk] = frozenset()
    reads: Record = field(default_factory=Record)
    exported_as: ExportedAs = UNSPECIFIED
    is_model: bool = False
    seconds: float = field(default=0, compare=False)


def keys_of(module: Module, outline: Outline) -> dict[Class, Key]:
    """What the results of the classes of a file are kept under."""
    counts: dict[Chunk, int] = {}
    found: dict[Class, Key] = {}
    for cls in module.classes:
        chunk = outline.chunk_at(cls.node.lineno)
        assert chunk is not None
        number = counts[chunk] = counts.get(chunk, -1) + 1
        found[cls] = chunk, number
    return found


class Rows(Protocol):
    """From the rows of a file to those of a later version of it."""

    def by(self, row: int) -> int | None:
        """By how many rows what was in a row is further down; None if it is gone."""


class GoneError(Exception):
    """A result speaks of a place that is no longer there."""


class Mover:
    """Moves plain data to where the code is now that it speaks of. What results share stays shared."""

    def __init__(self, shifts: Mapping[str, Rows], trails: Mover | None = None) -> None:
        """`trails` moves what leads to a fact, where that is something else than to move the fact itself."""
        self._shifts = shifts
        self._trails = trails
        self._known: dict[int, tuple[object, object]] = {}

    def result(self, result: ClassResult) -> ClassResult:
        """A result where its code is now. Raises GoneError if part of it is gone."""
        facts = tuple(self._fact(*keyed) for keyed in result.facts)
        return replace(result, facts=facts, calls=self.calls(result.calls))

    def facts(self, result: ClassResult) -> Iterator[tuple[FactKey, Fact]]:
        """The facts of a result whose code is still there."""
        for keyed in result.facts:
            with suppress(GoneError):
                yield self._fact(*keyed)

    def calls(self, calls: CallRecord) -> CallRecord:
        """Calls where their code is now. Raises GoneError if the code of one is gone."""
        moved = self._of(calls)
        assert isinstance(moved, CallRecord)
        return moved

    def _fact(self, key: FactKey, fact: Fact) -> tuple[FactKey, Fact]:
        moved = self._of(fact)
        assert isinstance(moved, Fact)
        return (key, fact) if moved is fact else (Identity(moved.identity), moved)

    def _of(self, value: object) -> object:
        if value is None or isinstance(value, (str, int, float, type)):
            return value
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = value, self._moved(value)  # the value is kept, so that its id is
        return known[1]

    def _moved(self, value: object) -> object:
        if isinstance(value, Site):
            shift = self._shifts.get(value.filename)
            rows, end_rows = (0, 0) if shift is None else (shift.by(value.row), shift.by(value.end_row))
            if rows is None or end_rows is None:
                raise GoneError
            row, end_row = value.row + rows, value.end_row + end_rows
            return replace(value, row=row, end_row=max(row, end_row)) if rows or end_rows else value
        if self._trails is not None and isinstance(value, (Trail, Route)):
            return self._trails._of(value)
        if isinstance(value, (tuple, frozenset)):
            parts = [self._of(part) for part in value]
            return value if all(map(is_, parts, value)) else type(value)(parts)
        if isinstance(value, Mapping):
            items = [(self._of(key), self._of(item)) for key, item in value.items()]
            is_same = all(k is key and i is item for (k, i), (key, item) in zip(items, value.items(), strict=True))
            return value if is_same else dict(items)
        changed: dict[str, object] = {}
        kind: type = type(value)
        for name in made_with(kind):
            known = getattr(value, name)
            found = self._of(known)
            if found is not known:
                changed[name] = found
        return replace(value, **changed) if changed else value  # type: ignore[type-var]
