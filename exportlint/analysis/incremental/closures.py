"""The top-level statements that code can lead to, by the names that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from exportlint.syntax.chunks import AMBIENT, Chunk, Outline


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
