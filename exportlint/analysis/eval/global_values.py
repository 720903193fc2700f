"""The values of names of modules. They depend on the project and not on who asks, so its files share them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from exportlint.analysis.domain.values import UNKNOWN, Value
from exportlint.analysis.limits import Reached
from exportlint.analysis.project import Noted, Project
from exportlint.syntax.definitions import Module

Key = tuple[Module, str]

_NO_CYCLE = 1 << 30


@dataclass(frozen=True, slots=True)
class GlobalValue:
    """What a module binds to a name, what that depends on, and the limits that were reached on the way."""

    value: Value
    noted: Noted = field(default_factory=Noted)
    limits: tuple[Reached, ...] = ()


_AT_WORK = GlobalValue(UNKNOWN)


class GlobalValues:
    """The values of names of modules that have been worked out for the files of a project.

    A definition that refers to itself finds UNKNOWN. What is worked out meanwhile depends on where the cycle was
    entered, so it is kept only until the definition at its head is known.
    """

    def __init__(self) -> None:
        self._known: dict[Key, GlobalValue] = {}
        self._dependents: dict[str, set[Key]] = {}
        self._at_work: dict[Key, int] = {}
        self._in_cycles: dict[Key, tuple[GlobalValue, int]] = {}
        self._head = _NO_CYCLE
        """The place in `_at_work` of the first definition that the one at hand has found at work."""

    @property
    def depth(self) -> int:
        """How many definitions are being worked out, each of which needs the next one."""
        return len(self._at_work)

    def get(self, project: Project, key: Key, evaluate: Callable[[], GlobalValue]) -> GlobalValue:
        """The value of a name. `evaluate` gives it where it is not known; what it notes is added."""
        found = self._known.get(key)
        if found is None:
            if key in self._at_work:
                self._head = min(self._head, self._at_work[key])
                return _AT_WORK
            if key in self._in_cycles:
                found, head = self._in_cycles[key]
                self._head = min(self._head, head)
            else:
                found = self._worked_out(project, key, evaluate)
        project.replay(found.noted)
        return found

    def _worked_out(self, project: Project, key: Key, evaluate: Callable[[], GlobalValue]) -> GlobalValue:
        place = len(self._at_work)
        outer, self._head = self._head, _NO_CYCLE
        self._at_work[key] = place
        try:
            with project.noting() as noted:
                found = evaluate()
                found = GlobalValue(found.value, noted(), found.limits)
        except BaseException:
            self._head = outer
            self._leave(place)
            raise
        finally:
            del self._at_work[key]
        head, self._head = self._head, min(outer, self._head if self._head < place else _NO_CYCLE)
        if head < place:
            self._in_cycles[key] = found, head
            return found
        self._leave(place)
        self._known[key] = found
        for path in _files(key, found):
            self._dependents.setdefault(path, set()).add(key)
        return found

    def _leave(self, place: int) -> None:
        """Forget what belongs to the cycle whose head stands at a place."""
        if self._in_cycles:
            self._in_cycles = {key: known for key, known in self._in_cycles.items() if known[1] < place}

    def depends_on_asker(self) -> None:
        """Note that the definition at hand would be another one if it had been asked for first."""
        self._head = 0

    def drop(self, paths: Collection[str]) -> None:
        """Forget what depends on some files, which are no longer what they were."""
        for path in paths:
            for key in self._dependents.pop(path, ()):
                for other in _files(key, self._known.pop(key)) - {path}:
                    self._dependents[other].discard(key)  # a key holds its module, and so the tree of the file


def _files(key: Key, value: GlobalValue) -> frozenset[str]:
    """The files that a value depends on."""
    return value.noted.record.files | {key[0].path.as_posix()}
