"""What a result depends on: the files that were read for it, and what was asked about where imports lead."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Question = tuple[str, str, str]
"""What is asked of the import resolver: the kind of question, a name, and the folder that it is asked from."""

UNREADABLE = "!"
"""What the fingerprint of a file starts with that cannot be read; the reason follows."""


@dataclass(frozen=True, slots=True)
class Record:
    """The files, by their paths, that were asked for while something was worked out, and the questions."""

    files: frozenset[str] = frozenset()
    questions: frozenset[Question] = frozenset()


class Recorder:
    """Notes all that is read and asked while something is worked out.

    What is kept for later use is worked out under `capture`, and its record is noted again by `replay` whenever it is
    used, so that each result depends on the same whether it is the first to need it or not.
    """

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._questions: set[Question] = set()

    def start(self) -> None:
        """Forget what was noted: from here on, something else is worked out."""
        self._files, self._questions = set(), set()

    def read(self, path: str) -> None:
        """Note a file."""
        self._files.add(path)

    def ask(self, question: Question) -> None:
        """Note a question."""
        self._questions.add(question)

    def record(self) -> Record:
        """What was noted so far."""
        return Record(frozenset(self._files), frozenset(self._questions))

    @contextlib.contextmanager
    def capture(self) -> Iterator[Callable[[], Record]]:
        """Note apart what the block reads and asks; the function gives what that is."""
        before = self._files, self._questions
        self.start()
        try:
            yield self.record
        finally:
            self._files, self._questions = before

    def replay(self, record: Record) -> None:
        """Note what was captured before."""
        self._files |= record.files
        self._questions |= record.questions


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file held when it was read, as a fingerprint, and its stamp; empty where that would not tell a change."""

    fingerprint: str
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a result depends on besides the settings and exportlint: equal inputs give equal results.

    `files` are those that were read, by path; `answers` is where imports lead, from the folders `search`.
    """

    files: Mapping[str, FileState] = field(default_factory=dict)
    answers: Mapping[Question, object] = field(default_factory=dict)
    search: tuple[str, ...] = ()


def merged(some: Iterable[Inputs], without: Collection[str] = ()) -> Inputs | None:
    """All inputs together, but for some files. None if they contradict each other: something changed meanwhile."""
    files: dict[str, FileState] = {}
    answers: dict[Question, object] = {}
    searches: set[tuple[str, ...]] = set()
    for one in some:
        for path, state in one.files.items():
            if path not in without and files.setdefault(path, state).fingerprint != state.fingerprint:
                return None
        for question, answer in one.answers.items():
            if answers.setdefault(question, answer) != answer:
                return None
        searches |= {one.search} if one.answers else set()
    return Inputs(files, answers, *searches) if len(searches) < 2 else None


def fingerprint(data: bytes) -> str:
    """A digest by which contents of files are told apart, also by somebody who wants to deceive."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()
