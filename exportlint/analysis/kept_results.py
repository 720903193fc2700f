"""What running the classes of a file gave, kept for its next version: only what an edit concerns runs again.

A class can look up only names that its chunk has, or the chunks that bind these names, and so on: these chunks are
its *closure*. Its result holds as long as no chunk of its closure changes, no name in it is bound anew, and what is
asked of whole files (`_Queries`) says the same of the names in it. `Project.asked` tells which names code computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Generic, TypeVar

from exportlint.analysis.domain.trails import Site
from exportlint.analysis.eval.call_graph import CallRecord
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.order import FactKey, Identity
from exportlint.analysis.merged_facts import MergedFacts
from exportlint.analysis.project import Lookup, Project
from exportlint.findings import Finding, Step
from exportlint.syntax.chunks import AMBIENT, Chunk, Outline, Shift
from exportlint.syntax.definitions import Class, Module
from exportlint.syntax.inputs import Record

K = TypeVar("K")
T = TypeVar("T")


class ByObject(Generic[K, T]):
    """What was worked out for objects, such as facts, which are told by being the same object."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[K, T]] = {}
        self._asked: dict[int, tuple[K, T]] = {}

    def get(self, one: K) -> T | None:
        """What is known of an object."""
        known = self._known.get(id(one))
        if known is None:
            return None
        self._asked[id(one)] = known
        return known[1]

    def set(self, one: K, value: T) -> T:
        """Know something of an object, which is kept, so that no other has its id."""
        self._known[id(one)] = self._asked[id(one)] = one, value
        return value

    def trim(self) -> None:
        """Forget objects that nobody asked for since this was last called."""
        self._known, self._asked = self._asked, {}


@dataclass(frozen=True, slots=True)
class ClassResult:
    """What running the entry points of a class gave: its facts by their identities, and which calls lead to them.

    `reads` is what was read and asked meanwhile. `setup` is what holds for the class from outside of its closure.
    """

    facts: tuple[tuple[FactKey, Fact], ...]
    calls: CallRecord
    closure: frozenset[Chunk] = frozenset()
    reads: Record = field(default_factory=Record)
    setup: object = None


@dataclass(frozen=True, slots=True)
class _Queries:
    """What code asks of a whole file: which of its classes are parts of others, …; what it registers and binds."""

    of_classes: tuple[frozenset[str], ...]
    of_names: tuple[frozenset[str], ...]
    classes: frozenset[str]

    @staticmethod
    def of(module: Module) -> _Queries:
        """What they give for a file."""
        asked = (module.parts, module.used_parts, module.subclassed, module.made, module.used_in_classes)
        return _Queries(asked, (module.walruses, module.registered), _class_names(module))

    def changed(self, after: _Queries, modules: Iterable[Module]) -> frozenset[str]:
        """The names of which something else is said later, by which the classes of `modules` may be called."""
        changed = _differing(self.of_classes, after.of_classes)
        if changed:
            changed &= frozenset[str](self.classes | after.classes).union(*map(_class_names, modules))
        return changed | _differing(self.of_names, after.of_names)


def _differing(before: tuple[frozenset[str], ...], after: tuple[frozenset[str], ...]) -> frozenset[str]:
    return frozenset[str]().union(*(a ^ b for a, b in zip(before, after, strict=True)))


def _class_names(module: Module) -> frozenset[str]:
    return frozenset(cls.node.name for cls in module.classes)


Key = tuple[Chunk, int]
"""A class: its chunk, and which of the classes in it."""


@dataclass(slots=True)
class KeptResults:
    """The results of the classes of one file as they were when the files that it reads had some `outlines`.

    A file without an outline has none that could be parsed; then its version counts.
    """

    results: dict[Key, ClassResult]
    outlines: dict[str, Outline | int]
    modules: dict[str, Module]
    computed: frozenset[str] = frozenset()
    """Names that code looked up and that no chunk of its closure has."""
    merged: MergedFacts = field(default_factory=MergedFacts)
    reports: ByObject[Fact, Any] = field(default_factory=ByObject)
    """What rules say of facts, which depends on nothing else that changes while this is kept."""
    steps: ByObject[object, tuple[Step, ...]] = field(default_factory=ByObject)
    """Trails of facts as they are told."""
    told: ByObject[Finding, Finding] = field(default_factory=ByObject)
    """Findings with all that is said of them, so that those that stay the same are the same objects."""

    models: dict[Key, tuple[ClassResult, bool]] = field(default_factory=dict)

    def keys(self, module: Module, project: Project) -> dict[Class, Key]:
        """What the classes of a file are kept under, if what is kept is of this version of the file."""
        path = module.path.as_posix()
        found, outline = project.outline(path), self.outlines.get(path)
        is_current = found is not None and isinstance(outline, Outline) and found == (module, outline)
        return keys_of(module, outline) if is_current and isinstance(outline, Outline) else {}

    def is_model(self, key: Key, ask: Callable[[], bool]) -> bool:
        """Whether a class is a model, as `ask` says; asked once for each of its results."""
        result, known = self.results.get(key), self.models.get(key)
        if result is None:
            return ask()
        if known is None or known[0] is not result:
            known = self.models[key] = result, ask()
        return known[1]

    def trim(self) -> None:
        """Forget what was said of facts that were not asked for in the last version."""
        self.reports.trim()
        self.steps.trim()
        self.told.trim()

    @staticmethod
    def nothing() -> KeptResults:
        """Of a file that was never looked at."""
        return KeptResults({}, {}, {})

    def update(self, project: Project) -> None:
        """Leave out what no longer holds, and move what does to where it is now."""
        if not self.results:
            return
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
                return
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
            return
        for outline in self.outlines.values():
            if isinstance(outline, Outline) and names:
                gone.update(chunk for chunk in outline.chunks if not names.isdisjoint(chunk.words))
        mover = _Mover(shifts)
        results: dict[Key, ClassResult] = {}
        for key, result in self.results.items():
            if result.closure.isdisjoint(gone) and names.isdisjoint(self.computed):
                try:
                    results[key] = mover.result(result) if shifts else result
                except _GoneError:
                    continue
        self.results, self.outlines, self.modules = results, outlines, modules

    def forget(self) -> None:
        """Leave out everything."""
        self.results, self.outlines, self.modules, self.computed = {}, {}, {}, frozenset()
        self.merged = MergedFacts()

    def keep(self, results: dict[Key, ClassResult], project: Project, fresh: Mapping[Key, Set[Lookup]]) -> None:
        """Keep the results of a file; those that are `fresh`, each with what it looked up, get closures."""
        reads = project.recorder.record()
        for path in reads.files:
            outline = self.outlines[path] = _outline(project, path)
            if isinstance(outline, Outline) and (found := project.outline(path)) is not None:
                self.modules[path] = found[0]
        outlines = {path: outline for path, outline in self.outlines.items() if isinstance(outline, Outline)}
        closures = Closures(outlines)
        for key, asked in fresh.items():
            closure = closures.of(key[0], ())
            words = {word for chunk in closure for word in chunk.words}
            self.computed |= {
                name
                for path, name in asked
                if name not in words
                or (path in outlines and not closure.issuperset(outlines[path].names.get(name, ())))
            }
        for key in fresh:
            results[key] = replace(results[key], closure=closures.of(key[0], self.computed), reads=reads)
        self.results = results
        self.models = {key: known for key, known in self.models.items() if key in results}


def _outline(project: Project, path: str) -> Outline | int:
    found = project.outline(path)
    return project.version(path) if found is None else found[1]


@dataclass(frozen=True, slots=True)
class _Reached:
    """Where names lead: to chunks that bind them, those of these that are more than imports of them, and modules."""

    chunks: frozenset[Chunk] = frozenset()
    code: frozenset[Chunk] = frozenset()
    modules: frozenset[Outline] = frozenset()


class Closures:
    """The chunks that code can lead to, by the names that it has.

    A name leads to what its own file binds to it, and an import of it to all that is called so in any file. Where an
    import gives a module, every name of the code may be one of the module's.
    """

    def __init__(self, outlines: Mapping[str, Outline]) -> None:
        self._outlines = {chunk: outline for outline in outlines.values() for chunk in outline.chunks}
        self._stubs = {outlines[path]: outlines[f"{path}i"] for path in outlines if f"{path}i" in outlines}
        self._binders: dict[str, list[Outline]] = {}
        self._modules: dict[str, list[Outline]] = {}
        """The files that a module of some name, or the package of that name, has."""
        for path, outline in outlines.items():
            for name in outline.names:
                self._binders.setdefault(name, []).append(outline)
            for name in PurePosixPath(path).with_suffix("").parts:
                self._modules.setdefault(name, []).append(outline)
        self._direct: dict[Chunk, _Reached] = {}
        self._followed: dict[tuple[Outline, str], _Reached] = {}

    def of(self, chunk: Chunk, names: Iterable[str]) -> frozenset[Chunk]:
        """The closure of a chunk, which may also look up some names that it does not have."""
        found = {chunk}
        entered = {chunk}
        waiting = [chunk]
        words: set[str] = set()
        exposed: set[Outline] = set()

        def add(reached: _Reached) -> None:
            found.update(reached.chunks)
            waiting.extend(reached.code - entered)
            entered.update(reached.code)
            for outline in reached.modules - exposed:
                exposed.add(outline)
                add(_Reached(modules=self._starred(outline)))
                for name in words & outline.names.keys():
                    add(self._follow(outline, name))

        for name in (*AMBIENT, *names):
            for outline in self._binders.get(name, ()):
                add(self._follow(outline, name))
        while waiting:
            one = waiting.pop()
            add(self._reached(one))
            new = set(one.words) - words
            words |= new
            for outline in [*exposed]:
                for name in new & outline.names.keys():
                    add(self._follow(outline, name))
        return frozenset(found)

    def _reached(self, chunk: Chunk) -> _Reached:
        """Where the names of a chunk lead."""
        known = self._direct.get(chunk)
        if known is None:
            outline = self._outlines[chunk]
            is_starred = "*" in outline.names
            inner = chunk.imports.keys() - chunk.names
            names = [name for name in chunk.words if is_starred or name in outline.names or name in inner]
            parts = [self._follow(outline, name) for name in names]
            parts += [self._imported(chunk.imports[name]) for name in inner]
            known = self._direct[chunk] = _Reached(
                frozenset[Chunk]().union(*(part.chunks for part in parts)),
                frozenset[Chunk]().union(*(part.code for part in parts)),
                frozenset[Outline]().union(*(part.modules for part in parts)),
            )
        return known

    def _follow(self, outline: Outline, name: str) -> _Reached:
        """Where a name leads at the top level of a file."""
        known = self._followed.get((outline, name))
        if known is None:
            known = self._followed[outline, name] = self._walk([(outline, name)], set())
        return known

    def _imported(self, targets: Iterable[str]) -> _Reached:
        """Where the qualified names of imports lead."""
        modules: set[Outline] = set()
        return self._walk([*self._targets(targets, modules)], modules)

    def _walk(self, waiting: list[tuple[Outline, str]], modules: set[Outline]) -> _Reached:
        seen = set(waiting)
        chunks: set[Chunk] = set()
        code: set[Chunk] = set()
        while waiting:
            outline, name = waiting.pop()
            stub = self._stubs.get(outline)
            new = [] if stub is None else [(stub, name)]
            for chunk in outline.names.get(name, ()):
                chunks.add(chunk)
                if name in chunk.defined or name not in chunk.names:
                    code.add(chunk)
                if name != "*":
                    new += self._targets(chunk.imports.get(name, ()), modules)
            if not outline.names.get(name) and "*" in outline.names:
                new += ((other, name) for other in self._binders.get(name, ()))
            waiting += (one for one in new if one not in seen)
            seen.update(new)
        return _Reached(frozenset(chunks), frozenset(code), frozenset(modules))

    def _starred(self, outline: Outline) -> frozenset[Outline]:
        """The files whose names a file has by star imports."""
        modules: set[Outline] = set()
        for chunk in outline.names.get("*", ()):
            for _ in self._targets(chunk.imports.get("*", ()), modules):
                pass
        return frozenset(modules)

    def _targets(self, targets: Iterable[str], modules: set[Outline]) -> Iterator[tuple[Outline, str]]:
        """What qualified names may be called in files of the project; the files of modules are put into `modules`."""
        for target in targets:
            top, last = target.partition(".")[0], target.rpartition(".")[2]
            if top in self._modules:
                modules.update(self._modules.get(last, ()))
                yield from ((other, last) for other in self._binders.get(last, ()))


class _GoneError(Exception):
    """A result speaks of a place that is no longer there."""


class _Mover:
    """Moves plain data to where the code is now that it speaks of. What results share stays shared."""

    def __init__(self, shifts: Mapping[str, Shift]) -> None:
        self._shifts = shifts
        self._known: dict[int, tuple[object, object]] = {}

    def result(self, result: ClassResult) -> ClassResult:
        """A result where its code is now."""
        facts = tuple(self._fact(*keyed) for keyed in result.facts)
        calls = self._of(result.calls)
        assert isinstance(calls, CallRecord)
        return replace(result, facts=facts, calls=calls)

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
            rows = 0 if shift is None else shift.by(value.row)
            if rows is None:
                raise _GoneError
            return replace(value, row=value.row + rows, end_row=value.end_row + rows) if rows else value
        if isinstance(value, (tuple, frozenset)):
            parts = [self._of(part) for part in value]
            return value if all(map(_is, parts, value)) else type(value)(parts)
        if isinstance(value, Mapping):
            items = [(self._of(key), self._of(item)) for key, item in value.items()]
            is_same = all(k is key and i is item for (k, i), (key, item) in zip(items, value.items(), strict=True))
            return value if is_same else dict(items)
        if is_dataclass(value) and not isinstance(value, type):
            changed: dict[str, object] = {}
            for one in fields(value):
                known = getattr(value, one.name)
                found = self._of(known)
                if one.init and found is not known:
                    changed[one.name] = found
            return replace(value, **changed) if changed else value
        return value


def _is(one: object, other: object) -> bool:
    return one is other


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
