"""The top-level statements that code can lead to, by the names that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import TypeVar

from exportlint.syntax.chunks import AMBIENT, Chunk, Outline

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Reached:
    """Where names lead: to chunks that bind them, those of these that are more than imports of them, and modules.

    `through` are the files in which they were looked for.
    """

    chunks: frozenset[Chunk] = frozenset()
    code: frozenset[Chunk] = frozenset()
    modules: frozenset[Outline] = frozenset()
    through: frozenset[Outline] = frozenset()

    def replaced(self, chunks: Mapping[Chunk, Chunk], outlines: Mapping[Outline, Outline]) -> _Reached:
        """The same in another version of some of the files."""
        if outlines.keys().isdisjoint(self.through):
            return self
        return _Reached(
            _replaced(self.chunks, chunks),
            _replaced(self.code, chunks),
            _replaced(self.modules, outlines),
            _replaced(self.through, outlines),
        )


class Closures:
    """The chunks that code can lead to, by the names that it has.

    A name leads to what its own file binds to it, and an import of it to all that is called so in any file. Where an
    import gives a module, every name of the code may be one of the module's.
    """

    def __init__(self, files: Mapping[str, Outline]) -> None:
        self._files = dict(files)
        self._outlines = {chunk: outline for outline in files.values() for chunk in outline.chunks}
        self._stubs = {files[path]: files[f"{path}i"] for path in files if f"{path}i" in files}
        self._binders: dict[str, list[Outline]] = {}
        self._modules: dict[str, list[Outline]] = {}
        """The files that a module of some name, or the package of that name, has."""
        for path, outline in files.items():
            for name in outline.names:
                self._binders.setdefault(name, []).append(outline)
            for name in PurePosixPath(path).with_suffix("").parts:
                self._modules.setdefault(name, []).append(outline)
        self._direct: dict[Chunk, _Reached] = {}
        self._followed: dict[tuple[Outline, str], _Reached] = {}
        self._closures: dict[tuple[Chunk, frozenset[str]], frozenset[Chunk]] = {}

    def of_version(self, files: Mapping[str, Outline]) -> Closures:
        """The closures in another version of the files. What the edit cannot have changed is taken over."""
        before = self._files
        changed = [path for path, outline in files.items() if outline is not before.get(path)]
        if not changed and len(files) == len(before):
            return self
        found = Closures(files)
        if files.keys() != before.keys() or any(
            files[path].names.keys() != before[path].names.keys() for path in changed
        ):
            return found
        outlines = {before[path]: files[path] for path in changed}
        pairs = [pair for one, other in outlines.items() for pair in zip_longest(one.chunks, other.chunks)]
        chunks = {one: other for one, other in pairs if one is not other}
        if all(one and other and self._lead_alike(one, other) for one, other in chunks.items()):
            found._direct = {
                chunks.get(c, c): reached.replaced(chunks, outlines) for c, reached in self._direct.items()
            }
            found._followed = {
                (outlines.get(outline, outline), name): reached.replaced(chunks, outlines)
                for (outline, name), reached in self._followed.items()
            }
            found._closures = {
                (chunks.get(chunk, chunk), names): _replaced(closure, chunks)
                for (chunk, names), closure in self._closures.items()
            }
        else:
            gone = outlines.keys()
            found._direct = {chunk: one for chunk, one in self._direct.items() if gone.isdisjoint(one.through)}
            found._followed = {key: one for key, one in self._followed.items() if gone.isdisjoint(one.through)}
        return found

    def _lead_alike(self, one: Chunk, other: Chunk) -> bool:
        """Whether two chunks in the same place lead to the same others, and are led to by the same."""
        differing = set(one.words) ^ set(other.words)
        return (
            (one.names, one.defined, one.imports) == (other.names, other.defined, other.imports)
            and self._binders.keys().isdisjoint(differing)
            and one.imports.keys().isdisjoint(differing)
        )

    def of(self, chunk: Chunk, names: frozenset[str]) -> frozenset[Chunk]:
        """The closure of a chunk, which may also look up some names that it does not have."""
        known = self._closures.get((chunk, names))
        if known is None:
            known = self._closures[chunk, names] = self._of(chunk, names)
        return known

    def _of(self, chunk: Chunk, names: Iterable[str]) -> frozenset[Chunk]:
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
                frozenset((outline,)).union(*(part.through for part in parts)),
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
        through = modules.union(outline for outline, _ in seen)
        return _Reached(frozenset(chunks), frozenset(code), frozenset(modules), frozenset(through))

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


def _replaced(known: frozenset[_T], by: Mapping[_T, _T]) -> frozenset[_T]:
    gone = [one for one in by if one in known]
    return known.difference(gone).union([by[one] for one in gone]) if gone else known
