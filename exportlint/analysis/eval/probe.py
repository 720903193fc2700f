"""Records the variables at places of the code while it is analyzed once more: what a fix asks about."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

from exportlint.analysis.eval.engine import Engine
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.snapshots import Snapshot
from exportlint.analysis.facts import Place
from exportlint.analysis.limits import MAX_KEPT
from exportlint.syntax.definitions import Class

MAX_SNAPSHOTS = 4
"""Of one place."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The variables at each time that a place is met, one for each way in which its function is called.

    Where it is `complete`, these are all the times, and the place is met in each call of the function: what holds in
    all of them is true. `refused`: there was no room to keep any of them.
    """

    snapshots: tuple[Snapshot, ...] = ()
    complete: bool = False
    refused: bool = False

    def later(self, snapshots: Collection[Snapshot]) -> Observation:
        """The same times with the variables of a place behind."""
        return replace(self, snapshots=tuple(snapshots))


NOTHING = Observation()


@dataclass(slots=True)
class _Watched:
    """What is recorded at a place: `frames` are the calls that met it, `functions` are what they call."""

    snapshots: list[Snapshot] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    functions: set[ast.AST] = field(default_factory=set)
    is_all: bool = True


class Probe:
    """Watches places during an analysis of the classes that meet them."""

    def __init__(self, places: Collection[Place], roots: Collection[str]) -> None:
        self._watched = {place: _Watched() for place in places}
        self._roots = frozenset(roots)
        self._engines: list[Engine] = []
        self._kept = 0

    def asks_for(self, cls: Class) -> bool:
        """Whether a class that is exported may meet one of the places."""
        return cls.qualname in self._roots

    def watch(self, engine: Engine) -> None:
        """An engine is about to run; what it meets is recorded."""
        self._engines.append(engine)

    def meet(self, place: Place, frame: Frame) -> None:
        """A call is at a place."""
        watched = self._watched.get(place)
        if watched is None:
            return
        engine = frame.engine
        if not engine.silent:  # a later call of an entry point is none that is counted
            watched.functions.update(engine.active[-1:])
            if not any(known is frame for known in watched.frames):
                watched.frames.append(frame)
        if len(watched.snapshots) < MAX_SNAPSHOTS and self._kept <= MAX_KEPT:
            snapshot = Snapshot(frame)
            self._kept += snapshot.weight
            watched.snapshots.append(snapshot)
        else:
            watched.is_all = False

    @cached_property
    def _runs_of(self) -> Counter[ast.AST]:
        """How often each function was run in the whole analysis."""
        counters = {id(engine.runs_of): engine.runs_of for engine in self._engines}
        total = Counter[ast.AST]()
        for runs in counters.values():
            total.update(runs)
        return total

    @cached_property
    def _was_cut(self) -> bool:
        return any(engine.was_limited for engine in self._engines)

    def at(self, place: Place) -> Observation:
        """What was recorded at a place; to be asked once the analysis is done."""
        watched = self._watched.get(place)
        if watched is None or not (watched.snapshots or watched.frames):
            return NOTHING
        calls = sum(self._runs_of[function] for function in watched.functions)
        complete = watched.is_all and not self._was_cut and calls <= len(watched.frames)
        return Observation(tuple(watched.snapshots), complete, not watched.snapshots)
