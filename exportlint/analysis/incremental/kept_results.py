"""The results of the classes of a file, kept for its next version: only classes affected by an edit run again.

A class can look up only the names in its chunk, in the chunks that bind these names, and so on: these chunks are its
*closure*. Its result is valid as long as no chunk of its closure changes, no name in it is rebound, and the answers of
queries about whole files (`_Queries`) stay the same for these names. `Project.asked` has the names that code computes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from exportlint.analysis.facts import Fact
from exportlint.analysis.incremental.class_results import ClassResult, GoneError, Key, Mover, keys_of
from exportlint.analysis.incremental.closures import Closures
from exportlint.analysis.incremental.earlier_results import EarlierResults, Version
from exportlint.analysis.merged_facts import MergedFacts
from exportlint.analysis.project import Lookup, Project
from exportlint.findings import Finding, Step
from exportlint.syntax.chunks import AMBIENT, Chunk, Outline, Shift
from exportlint.syntax.definitions import Class, Module

K = TypeVar("K")
T = TypeVar("T")


class ByObject(Generic[K, T]):
    """A mapping keyed by object identity, for example from facts to reports."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[K, T]] = {}
        self._asked: dict[int, tuple[K, T]] = {}

    def get(self, one: K) -> T | None:
        """The value for an object, None if there is none."""
        known = self._known.get(id(one))
        if known is None:
            return None
        self._asked[id(one)] = known
        return known[1]

    def set(self, one: K, value: T) -> T:
        """Set the value for an object. The object is kept alive, so that no other gets its id."""
        self._known[id(one)] = self._asked[id(one)] = one, value
        return value

    def trim(self) -> None:
        """Drop the objects that were not looked up since the last call of `trim`."""
        self._known, self._asked = self._asked, {}


@dataclass(frozen=True, slots=True)
class _Queries:
    """The answers to queries about a whole file: which classes are parts of others, what it registers and binds, …."""

    of_classes: tuple[frozenset[str], ...]
    of_names: tuple[frozenset[str], ...]
    classes: frozenset[str]

    @staticmethod
    def of(module: Module) -> _Queries:
        """What they give for a file."""
        asked = (module.parts, module.used_parts, module.subclassed, module.made, module.used_in_classes)
        return _Queries(asked, (module.walruses, module.registered), _class_names(module))

    def changed(self, after: _Queries, modules: Iterable[Module]) -> frozenset[str]:
        """The names in `modules` for which an answer differs in `after`."""
        changed = _differing(self.of_classes, after.of_classes)
        if changed:
            changed &= frozenset[str](self.classes | after.classes).union(*map(_class_names, modules))
        return changed | _differing(self.of_names, after.of_names)


def _differing(before: tuple[frozenset[str], ...], after: tuple[frozenset[str], ...]) -> frozenset[str]:
    return frozenset[str]().union(*(a ^ b for a, b in zip(before, after, strict=True)))


def _class_names(module: Module) -> frozenset[str]:
    return frozenset(cls.node.name for cls in module.classes)


@dataclass(slots=True)
class KeptResults:
    """The results of the classes of one file as they were when the files that it reads had some `outlines`.

    A file that cannot be parsed has no outline; its version counts instead.
    """

    results: dict[Key, ClassResult]
    outlines: dict[str, Outline | int]
    modules: dict[str, Module]
    computed: frozenset[str] = frozenset()
    """Names that code looked up although no chunk of its closure contains them."""
    merged: MergedFacts = field(default_factory=MergedFacts)
    reports: ByObject[Fact, Any] = field(default_factory=ByObject)
    """The reports of rules on facts."""
    steps: ByObject[object, tuple[Step, ...]] = field(default_factory=ByObject)
    """The trails of facts as steps of findings."""
    told: ByObject[Finding, Finding] = field(default_factory=ByObject)
    """Complete findings, so that unchanged findings stay the same objects."""

    closures: Closures = field(default_factory=lambda: Closures({}))
    earlier: EarlierResults = field(default_factory=EarlierResults)
    patience: float = math.inf
    """After this many seconds of processor time, classes that have not run again yet get their earlier results."""
    is_partial: bool = False
    """Whether the last analysis used earlier results in this way."""
    _told_for: dict[str, Outline | int] = field(default_factory=dict)

    def keys(self, module: Module, project: Project) -> dict[Class, Key]:
        """The keys of the classes of a file; empty if the results are for another version of the file."""
        path = module.path.as_posix()
        found, outline = project.outline(path), self.outlines.get(path)
        is_current = found is not None and isinstance(outline, Outline) and found == (module, outline)
        return keys_of(module, outline) if is_current and isinstance(outline, Outline) else {}

    def is_model(self, key: Key) -> bool | None:
        """Whether a class is a model, as its last run found; None if it has no result."""
        result = self.results.get(key) or self.earlier.get(key)
        return None if result is None else result.is_model

    def tells_earlier(self, tells: bool) -> None:
        """Note whether earlier results are returned for this version."""
        self._told_for = dict(self.outlines) if tells else {}

    def told_earlier(self, project: Project) -> bool:
        """Whether earlier results were returned for this very version before."""
        told = self._told_for
        return bool(told) and all(_are_same(_outline(project, path), outline) for path, outline in told.items())

    def trim(self) -> None:
        """Drop the reports and trails of facts that the last version did not need."""
        self.reports.trim()
        self.steps.trim()
        self.told.trim()

    @staticmethod
    def nothing() -> KeptResults:
        """The results of a file that was never analyzed: none."""
        return KeptResults({}, {}, {})

    def update(self, project: Project) -> None:
        """Drop results that are no longer valid, and move the others to their new positions."""
        if not self.results:
            return
        version = Version(self.outlines, self.modules)
        before = self.results
        if self._update(project):
            self.earlier.add({key: before[key] for key in before.keys() - self.results.keys()}, version)

    def _update(self, project: Project) -> bool:
        """Whether anything could be kept."""
        gone: set[Chunk] = set()
        names: set[str] = set()
        shifts: dict[str, Shift] = {}
        outlines, modules = dict(self.outlines), dict(self.modules)
        for path, before in self.outlines.items():
            now = outlines[path] = _outline(project, path)
            if now is before or now == before:
                continue
            if not isinstance(now, Outline) or not isinstance(before, Outline):
                self.forget()
                return False
            found = project.outline(path)
            assert found is not None
            modules[path] = found[0]
            lost, bound = before.changed(now)
            gone |= lost
            names |= bound
            names |= _Queries.of(self.modules[path]).changed(_Queries.of(found[0]), self.modules.values())
            shift = Shift(before, now)
            if shift.moves:
                shifts[found[0].filename] = shift
        if names & AMBIENT:
            self.forget()
            return False
        for outline in self.outlines.values():
            if isinstance(outline, Outline) and names:
                gone.update(chunk for chunk in outline.chunks if not names.isdisjoint(chunk.words))
        mover = Mover(shifts)
        results: dict[Key, ClassResult] = {}
        for key, result in self.results.items():
            if result.closure.isdisjoint(gone) and names.isdisjoint(self.computed):
                try:
                    results[key] = mover.result(result) if shifts else result
                except GoneError:
                    continue
        self.results, self.outlines, self.modules = results, outlines, modules
        return True

    def forget(self) -> None:
        """Leave out everything."""
        self.results, self.outlines, self.modules, self.computed = {}, {}, {}, frozenset()
        self.merged, self.earlier, self.closures = MergedFacts(), EarlierResults(), Closures({})

    def keep(self, results: dict[Key, ClassResult], project: Project, fresh: Mapping[Key, Set[Lookup]]) -> None:
        """Keep the results of a file; those that are `fresh`, each with what it looked up, get closures."""
        reads = project.recorder.record()
        for path in reads.files:
            outline = self.outlines[path] = _outline(project, path)
            if isinstance(outline, Outline) and (found := project.outline(path)) is not None:
                self.modules[path] = found[0]
        outlines = {path: outline for path, outline in self.outlines.items() if isinstance(outline, Outline)}
        closures = self.closures = self.closures.of_version(outlines)
        direct = {key: closures.of(key[0], frozenset()) for key in fresh}
        for key, asked in fresh.items():
            words = set[str]().union(*(chunk.words for chunk in direct[key]))
            self.computed |= {
                name
                for path, name in asked
                if name not in words
                or (path in outlines and not direct[key].issuperset(outlines[path].names.get(name, ())))
            }
        for key, closure in direct.items():
            whole = closures.of(key[0], self.computed) if self.computed else closure
            results[key] = replace(results[key], closure=whole, reads=reads)
        self.results = results
        self.earlier.remove(results)


def _outline(project: Project, path: str) -> Outline | int:
    found = project.outline(path)
    return project.version(path) if found is None else found[1]


def _are_same(one: Outline | int, other: Outline | int) -> bool:
    """Whether two versions of a file have the same text; it may have been parsed again."""
    if isinstance(one, Outline) and isinstance(other, Outline):
        return one is other or (one.chunks, one.starts) == (other.chunks, other.starts)
    return one == other
