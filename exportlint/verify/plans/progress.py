"""Whether a model gets further on its way to an exported program than it did, after its files were changed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path

from exportlint.source import SourceError, from_bytes
from exportlint.verify.kinds import disagreements
from exportlint.verify.results import Failure, Run, Verdict

_RANKS: dict[Verdict, int] = {
    "cannot be built": 0,
    "times out": 1,
    "fails": 2,
    "diverges": 3,
    "not compared": 4,
    "narrower": 5,
    "exports": 6,
}
_NUMBER = re.compile(r"\b[a-z]?\d+\b")

_APART = 3

Text = Callable[[Path], bytes]
"""Gives what a file holds."""


class Progress(IntEnum):
    """How a run compares with one before. ELSEWHERE: something else is wrong, and nobody can tell which is closer."""

    BACK = 0
    SAME = 1
    ELSEWHERE = 2
    FURTHER = 3


def progress(before: Sequence[Run], after: Sequence[Run], texts: tuple[Text, Text]) -> Progress:
    """How runs of the same targets compare. `texts` are what files held before and after."""
    found = {_of_run(old, new, Rows(*texts)) for old, new in zip(before, after, strict=True)}
    for extreme in (Progress.BACK, Progress.FURTHER, Progress.ELSEWHERE):
        if extreme in found:
            return extreme
    return Progress.SAME


def first_failure(run: Run) -> Failure | None:
    """What export itself raised."""
    return next((failure for failure in run.failures if not failure.further), None)


class Rows:
    """Where rows of files are after a change."""

    def __init__(self, before: Text, after: Text) -> None:
        self._texts = before, after
        self._changes: dict[Path, list[tuple[range, range]]] = {}

    def after(self, path: Path, row: int) -> range:
        """The rows that a row became, from 1: several where it was rewritten, with what was put there."""
        moved = 0
        for old, new in self._of(path):
            if row in old:
                return new
            if old.stop > row:
                break
            moved = new.stop - old.stop
        return range(row + moved, row + moved + 1)

    def _of(self, path: Path) -> Sequence[tuple[range, range]]:
        """The rows that changed and what they became, in order."""
        if path not in self._changes:
            self._changes[path] = list(_changes(*(_lines(text(path), path) for text in self._texts)))
        return self._changes[path]


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[range, range]]:
    """Changes with at least `_APART` rows between them that stay: a rewrite takes over lines of what it replaces."""
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    last: tuple[int, int, int, int] | None = None
    for tag, low, high, new_low, new_high in codes:
        if tag == "equal":
            continue
        if last is not None and low - last[1] >= _APART:
            yield range(last[0] + 1, last[1] + 1), range(last[2] + 1, last[3] + 1)
            last = None
        last = (low, high, new_low, new_high) if last is None else (last[0], high, last[2], new_high)
    if last is not None:
        yield range(last[0] + 1, last[1] + 1), range(last[2] + 1, last[3] + 1)


def _lines(data: bytes, path: Path) -> list[str]:
    try:
        return from_bytes(data, path, str(path)).text.splitlines()
    except SourceError:
        return []


def _of_run(old: Run, new: Run, rows: Rows) -> Progress:
    if _RANKS[new.verdict] < _RANKS[old.verdict]:
        return Progress.BACK
    if _RANKS[new.verdict] > _RANKS[old.verdict]:
        # A program that is wrong is no better than none, unless another fix makes it right.
        return Progress.ELSEWHERE if new.verdict == "diverges" else Progress.FURTHER
    if old.verdict == "fails":
        return _of_failures(first_failure(old), first_failure(new), rows)
    if old.verdict in ("diverges", "narrower"):
        return _of_disagreements(_disagreements(old), _disagreements(new))
    return Progress.SAME


def _disagreements(run: Run) -> set[object]:
    return {(found.kind, found.label, found.agreement) for found in disagreements(run)}


def _of_disagreements(old: set[object], new: set[object]) -> Progress:
    if old == new:
        return Progress.SAME
    if new < old:
        return Progress.FURTHER
    return Progress.BACK if old < new else Progress.ELSEWHERE


def _of_failures(old: Failure | None, new: Failure | None, rows: Rows) -> Progress:
    """By the statements that lead to each: the first that differs tells which of two is later."""
    if old is None or new is None:
        return Progress.SAME if old is new else Progress.ELSEWHERE
    same = Progress.SAME if _said(old) == _said(new) else Progress.ELSEWHERE
    if len(old.frames) != len(new.frames) and not (old.frames and new.frames):
        return Progress.ELSEWHERE
    for was, now in zip(old.frames, new.frames, strict=False):
        if (was.file, was.function) != (now.file, now.function):
            return Progress.ELSEWHERE
        there = rows.after(Path(was.file), was.row)
        if now.row not in there:
            return Progress.BACK if now.row < there.start else Progress.FURTHER
    return same if len(old.frames) == len(new.frames) else Progress.ELSEWHERE


def _said(failure: Failure) -> tuple[str, str]:
    """What torch says, whatever numbers it gives its symbols."""
    return failure.type, _NUMBER.sub("#", failure.message.strip().split("\n", 1)[0])
