"""Whether what a result depended on is still as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from exportlint.source import SourceError, read
from exportlint.source.stamps import settled, stamp
from exportlint.syntax.import_resolver import Resolver
from exportlint.syntax.inputs import UNREADABLE, FileState, fingerprint


class Freshness:
    """Answers for one run: each file is looked at once, and read only if its stamp tells nothing.

    `unsaved` is what files are to be seen as holding instead of what is on the disk.
    """

    def __init__(self, unsaved: Mapping[Path, bytes]) -> None:
        self._unsaved = {path.as_posix(): data for path, data in unsaved.items()}
        self._stamps: dict[str, str] = {}
        self._fingerprints: dict[str, str] = {}
        self._resolvers: dict[tuple[str, ...], Resolver] = {}
        self._answers: dict[tuple[str, ...], object] = {}

    def holds(self, path: str, known: FileState) -> bool:
        """Whether a file holds what it did."""
        if known.stamp and path not in self._unsaved and known.stamp == self._stamp(path):
            return True
        return known.fingerprint == self._fingerprint(path)

    def new_stamp(self, path: str) -> str:
        """The stamp of a file that had to be read, which makes that unnecessary from now on; empty if it was not."""
        return "" if path in self._unsaved or path not in self._fingerprints else settled(self._stamp(path))

    def answers(self, search: Sequence[str], question: Sequence[str], answer: object) -> bool:
        """Whether imports lead where they did."""
        kind, name, folder = question
        asked = (kind, name, folder, *search)
        if asked not in self._answers:
            folders = asked[3:]
            resolver = self._resolvers.get(folders)
            if resolver is None:
                resolver = self._resolvers[folders] = Resolver(tuple(map(Path, folders)))
            self._answers[asked] = plain(resolver.answer((kind, name, folder)))
        return bool(self._answers[asked] == answer)

    def _stamp(self, path: str) -> str:
        if path not in self._stamps:
            self._stamps[path] = stamp(path)
        return self._stamps[path]

    def _fingerprint(self, path: str) -> str:
        if path not in self._fingerprints:
            data = self._unsaved.get(path)
            if data is None:
                self._stamp(path)  # before it is read
                try:
                    data = read(Path(path)).data
                except SourceError as error:
                    self._fingerprints[path] = UNREADABLE + error.message
                    return self._fingerprints[path]
            self._fingerprints[path] = fingerprint(data)
        return self._fingerprints[path]


def plain(answer: Any) -> Any:
    """An answer as JSON gives it back."""
    return list(map(plain, answer)) if isinstance(answer, tuple) else answer
