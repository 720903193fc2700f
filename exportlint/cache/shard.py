"""One file of the cache: the results of the files of one folder, with what they depend on.

Most results of a folder depend on the same files and have steps of trails in common. These are listed once: a result
names what it depends on by the bits of a number, and its steps by their numbers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from exportlint.cache.freshness import Freshness, plain
from exportlint.syntax.inputs import FileState, Inputs, Question

_MOST_OF_A_FILE = 4
"""So many results of one file are kept, each for other settings."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A result as plain data; `path` is the file that it is of."""

    path: str
    result: list[Any]
    inputs: Inputs


@dataclass(slots=True)
class _Checked:
    """Which of the rows of a table were looked at, and which of them hold."""

    seen: int = 0
    valid: int = 0


@dataclass(slots=True)
class Shard:
    """What a file of the cache holds: tables, and results by keys as they refer to these."""

    files: list[list[str]] = field(default_factory=list)
    questions: list[list[Any]] = field(default_factory=list)
    steps: list[list[Any]] = field(default_factory=list)
    results: dict[str, list[Any]] = field(default_factory=dict)
    _files_checked: _Checked = field(default_factory=_Checked)
    _questions_checked: _Checked = field(default_factory=_Checked)

    @classmethod
    def loaded(cls, data: bytes) -> Shard:
        """The shard that was dumped. Raises ValueError, TypeError where it was not."""
        files, questions, steps, results = json.loads(data)
        return cls(files, questions, steps, results)

    def dumped(self) -> bytes:
        """The shard as bytes."""
        tables = [self.files, self.questions, self.steps, self.results]
        return json.dumps(tables, separators=(",", ":")).encode()

    def result(self, key: str, freshness: Freshness) -> tuple[list[Any], frozenset[str]] | None:
        """The result under a key, and the files that it depends on, if all that it depends on is as it was."""
        if key not in self.results:
            return None
        _, result, files, questions = self.results[key]
        needed, asked = int(files, 16), int(questions, 16)
        if not self._hold(needed, self._files_checked, lambda n: freshness.holds(*_state(self.files[n]))):
            return None
        if not self._hold(asked, self._questions_checked, lambda n: freshness.answers(*self.questions[n])):
            return None
        return result, frozenset(self.files[number][0] for number in _numbers(needed))

    def refresh(self, freshness: Freshness) -> bool:
        """Take over the stamps of files that had to be read and hold what they did. Returns whether there are any."""
        changed = False
        for number in _numbers(self._files_checked.valid):
            path, _, known = self.files[number]
            now = freshness.new_stamp(path)
            if now and now != known:
                self.files[number][2] = now
                changed = True
        return changed

    def entries(self) -> Iterator[tuple[str, Entry]]:
        """All results, each with all that it refers to, the one that was kept last at the end."""
        for key, (path, result, _, _) in self.results.items():
            steps = [[*found[:8], [self.steps[n] for n in found[8]], *found[9:]] for found in result[0]]
            yield key, Entry(path, [steps, *result[1:]], self.inputs(key))

    def inputs(self, key: str) -> Inputs:
        """What the result under a key depends on."""
        _, _, files, questions = self.results[key]
        states = dict(_state(self.files[number]) for number in _numbers(int(files, 16)))
        asked = [self.questions[number] for number in _numbers(int(questions, 16))]
        answers: dict[Question, object] = {(kind, name, at): answer for _, (kind, name, at), answer in asked}
        return Inputs(states, answers, tuple(asked[0][0]) if asked else ())

    def _hold(self, needed: int, checked: _Checked, holds: Any) -> bool:
        new = needed & ~checked.seen
        if new:
            checked.valid |= sum(1 << number for number in _numbers(new) if holds(number))
            checked.seen |= new
        return not needed & ~checked.valid


def packed(entries: Mapping[str, Entry]) -> Shard:
    """A shard with results, without those of files that are gone and those of which one file has too many."""
    shard = Shard()
    files: dict[tuple[str, str], int] = {}
    questions: dict[str, int] = {}
    steps: dict[str, int] = {}
    for key in _worth_keeping(entries):
        entry = entries[key]
        inputs = entry.inputs
        needed = asked = 0
        for path, state in inputs.files.items():
            number = files.setdefault((path, state.fingerprint), len(files))
            if number == len(shard.files):
                shard.files.append([path, state.fingerprint, state.stamp])
            elif state.stamp:
                shard.files[number][2] = state.stamp
            needed |= 1 << number
        for question, answer in inputs.answers.items():
            row = [list(inputs.search), list(question), plain(answer)]
            asked |= 1 << _row(row, shard.questions, questions)
        found = [
            [*finding[:8], [_row(step, shard.steps, steps) for step in finding[8]], *finding[9:]]
            for finding in entry.result[0]
        ]
        shard.results[key] = [entry.path, [found, *entry.result[1:]], f"{needed:x}", f"{asked:x}"]
    return shard


def _worth_keeping(entries: Mapping[str, Entry]) -> Iterable[str]:
    counts: dict[str, int] = {}
    kept: list[str] = []
    for key in reversed(list(entries)):
        path = entries[key].path
        if path not in counts:
            counts[path] = 0 if os.path.lexists(path) else _MOST_OF_A_FILE
        counts[path] += 1
        if counts[path] <= _MOST_OF_A_FILE:
            kept.append(key)
    return reversed(kept)


def _row(row: list[Any], table: list[list[Any]], known: dict[str, int]) -> int:
    """The number of a row of a table, to which it is added if it is new."""
    number = known.setdefault(json.dumps(row), len(table))
    if number == len(table):
        table.append(row)
    return number


def _state(row: list[str]) -> tuple[str, FileState]:
    path, holds, stamp = row
    return path, FileState(holds, stamp)


def _numbers(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    text = f"{bits:b}"[::-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)
