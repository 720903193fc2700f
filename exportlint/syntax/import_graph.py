"""Which files of a project can run the code of others, as far as their imports tell.

Files are not parsed: a tree of thousands of them has to be searched in a fraction of a second. Where only parsing could
tell, a file counts as one that can.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from exportlint.source.imports import imports
from exportlint.syntax.definitions import absolute_module
from exportlint.syntax.import_resolver import Resolver

_ALL = "*"
_DEFINITION = re.compile(
    rb"\n(?:[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+([\w\x80-\xff]+)"
    rb"|(?: {4}|\t)?([\w\x80-\xff]+)[ \t]*(?::[^=\n]*)?=)"  # the search for a line end is fast, that for `^` is not
)
_CHAIN = rb"(?<![\w.])%s((?:\.\w+)+)"


class Edge(NamedTuple):
    """An import of `name` from the module in the file `target`; of the module itself where `name` is empty."""

    target: str
    name: str
    bound: str


class ImportGraph:
    """The imports between `texts`, the files of a project. `resolver` gives the one that holds for a file."""

    def __init__(self, texts: Mapping[Path, bytes], resolver: Callable[[Path], Resolver]) -> None:
        self._paths = {path.as_posix(): path for path in texts}
        self._texts = {path.as_posix(): data for path, data in texts.items()}
        self._resolver = resolver
        self._leaves: dict[tuple[str, str], str | None] = {}
        self._edges: dict[str, tuple[Edge, ...]] = {}
        self._into: defaultdict[str, dict[str, list[tuple[str, Edge]]]] = defaultdict(dict)
        for file in self._texts:
            edges = self._edges[file] = tuple(dict.fromkeys(self._edges_of(file)))
            for edge in edges:
                self._into[edge.target].setdefault(edge.name, []).append((file, edge))

    def importers(self, files: Iterable[Path]) -> Reach:
        """The other files that can run the code of some.

        A module that imports one of them and hands on what others define is followed by the names that come from it.
        """
        start = {path.as_posix() for path in files}
        found = _Found(start, self._edges, self._texts)
        distances = dict.fromkeys(start, 0)
        waiting: deque[tuple[str, Edge | None]] = deque((file, None) for file in sorted(start))
        while waiting:
            target, new = waiting.popleft()
            for file, edge in self._concerned(target, new, found):
                if edge in found.edges[file] or not found.leads_there(edge):
                    continue
                is_first = not found.edges[file]
                found.edges[file].add(edge)
                distances.setdefault(file, distances[target] + 1)
                waiting.append((file, None if is_first else edge))
        ordered = sorted((distance, file) for file, distance in distances.items() if file not in start)
        return Reach(self._paths, start, {self._paths[file]: distance for distance, file in ordered}, found.edges)

    def _concerned(self, target: str, new: Edge | None, found: _Found) -> list[tuple[str, Edge]]:
        """The imports from a file that may lead to the start since it is known of one of its own, or of any at all."""
        into = self._into[target]
        if new is not None and new.bound != _ALL:
            return into.get(new.bound, [])
        given = found.given(target) if new is not None else {}
        return [one for name, some in into.items() if name not in given for one in some]

    def imported(self, files: Iterable[Path]) -> frozenset[Path]:
        """All files that some import, with those that these import."""
        waiting = [path.as_posix() for path in files]
        seen = set(waiting)
        while waiting:
            for edge in self._edges.get(waiting.pop(), ()):
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return frozenset(self._paths[file] for file in seen if file in self._paths)

    def _edges_of(self, file: str) -> Iterator[Edge]:
        data = self._texts[file]
        path = self._paths[file]
        resolver, folder = self._resolver(path), path.parent.as_posix()
        package = resolver.qualified_name(path)[1]
        modules: dict[str, str] = {}
        for found in imports(data):
            base = absolute_module(found.module, found.level, package)
            leaf = self._leaf(base, folder, resolver)
            for name, bound in found.names:
                if leaf is not None and name:
                    modules.pop(bound, None)
                    if leaf:
                        yield Edge(leaf, name, bound)
                    continue
                is_dotted = not name and bound == base
                qualified = f"{base}.{name}" if name and name != _ALL else base
                binds = bound.partition(".")[0] if is_dotted else bound
                for target, rest in resolver.places(qualified, folder)[:1]:
                    yield Edge(target, rest[0] if rest else _ALL if name == _ALL else "", binds)
                if name != _ALL:
                    modules[binds] = binds if is_dotted else qualified
        for bound, name in modules.items():
            if resolver.is_folder(name, folder):
                # `import package` and then `package.module.function`: what is used tells which files that leads to.
                for chain in set(re.findall(_CHAIN % re.escape(bound.encode()), data)):
                    for target, rest in resolver.places(name + chain.decode("utf-8", "replace"), folder)[:1]:
                        yield Edge(target, rest[0] if rest else "", "")

    def _leaf(self, module: str, folder: str, resolver: Resolver) -> str | None:
        """The file of a module that holds no others, as `folder` imports it; empty if it is none of the project's.

        None if what is imported from it may be a module.
        """
        key = (folder, module)
        if key not in self._leaves:
            top = module.partition(".")[0]
            if not (resolver.places(top, folder) or resolver.is_folder(top, folder)):
                self._leaves[key] = ""
            else:
                places = resolver.places(module, folder)
                is_leaf = places and not places[0][1] and not resolver.is_folder(module, folder)
                self._leaves[key] = places[0][0] if is_leaf else None
        return self._leaves[key]


@dataclass(frozen=True, slots=True)
class Reach:
    """The files that can run the code of some, each with the number of imports in between, closest first."""

    _paths: Mapping[str, Path]
    _start: Set[str]
    distances: Mapping[Path, int]
    _edges: Mapping[str, Set[Edge]]

    def names(self, file: Path, without: Set[Path]) -> frozenset[str] | None:
        """The names of a file by which its code leads there, but through some files; None if that may be any."""
        bound = {
            edge.bound
            for edge in self._edges.get(file.as_posix(), ())
            if edge.target in self._start or self._paths[edge.target] not in without
        }
        return None if bound & {"", _ALL} else frozenset(bound)


class _Found:
    """What is known so far of the ways to `start`: the imports of each file that lead there."""

    def __init__(self, start: set[str], edges: Mapping[str, tuple[Edge, ...]], texts: Mapping[str, bytes]) -> None:
        self.edges: defaultdict[str, set[Edge]] = defaultdict(set)
        self._start = start
        self._all = edges
        self._texts = texts
        self._given: dict[str, dict[str, list[Edge]]] = {}
        self._own: dict[str, frozenset[str]] = {}

    def leads_there(self, edge: Edge) -> bool:
        """Whether what an edge imports can run the code of `start`."""
        target, name = edge.target, edge.name
        if target in self._start:
            return True
        known = self.edges[target]
        if not known or name in ("", _ALL):
            return bool(known)
        given = self.given(target)
        if name in self._defined(target) or not (name in given or _ALL in given):
            return True
        if name in given:
            return any(one in known for one in given[name])
        return any(one in known and self._brings(one.target, name) for one in given[_ALL])

    def given(self, file: str) -> dict[str, list[Edge]]:
        """The imports of a file by the names that they bind."""
        if file not in self._given:
            names: dict[str, list[Edge]] = {}
            for edge in self._all.get(file, ()):
                names.setdefault(edge.bound, []).append(edge)
            self._given[file] = names
        return self._given[file]

    def _brings(self, file: str, name: str) -> bool:
        """Whether `import *` from a file can bring a name."""
        waiting, seen = [file], {file}
        while waiting:
            given = self.given(here := waiting.pop())
            if name in given or name in self._defined(here):
                return True
            more = {edge.target for edge in given.get(_ALL, ())} - seen
            seen |= more
            waiting += more
        return False

    def _defined(self, file: str) -> frozenset[str]:
        """The names that a file itself may define, which takes in those of methods."""
        if file not in self._own:
            found = _DEFINITION.finditer(b"\n" + self._texts.get(file, b""))
            self._own[file] = frozenset((match[1] or match[2]).decode("utf-8", "replace") for match in found)
        return self._own[file]
