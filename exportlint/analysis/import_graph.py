"""Which files of a project can run the code of others, as far as their imports tell.

Files are not parsed: a tree of thousands of them has to be searched in a fraction of a second. Where only parsing could
tell, a file counts as one that can.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from exportlint.analysis.resolver import Resolver
from exportlint.source.imports import ImportedName, imported_names

_ALL = "*"
_CHAIN = rb"(?<![\w.])%s((?:\.\w+)+)"


@dataclass(frozen=True, slots=True)
class Edge:
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
        self._edges: dict[str, tuple[Edge, ...]] = {}
        self._into: defaultdict[str, list[tuple[str, Edge]]] = defaultdict(list)
        for file in self._texts:
            edges = self._edges[file] = tuple(dict.fromkeys(self._edges_of(file)))
            for edge in edges:
                self._into[edge.target].append((file, edge))

    def importers(self, files: Iterable[Path]) -> dict[Path, int]:
        """The other files that can run the code of some, each with the number of imports in between, closest first.

        A module that imports one of them and hands on what others define is followed by the names that come from it.
        """
        start = {path.as_posix() for path in files}
        reach = _Reach(start, self._edges, self._texts)
        distances = dict.fromkeys(start, 0)
        waiting = deque(sorted(start))
        while waiting:
            target = waiting.popleft()
            for file, edge in self._into[target]:
                if edge in reach.edges[file] or not reach.leads_there(edge):
                    continue
                reach.edges[file].add(edge)
                distances.setdefault(file, distances[target] + 1)
                waiting.append(file)
        found = sorted((distance, file) for file, distance in distances.items() if file not in start)
        return {self._paths[file]: distance for distance, file in found}

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
        for found in imported_names(data):
            base = _absolute(found, package)
            name = f"{base}.{found.name}" if found.name and found.name != _ALL else base
            for target, rest in resolver.places(name, folder)[:1]:
                yield Edge(target, rest[0] if rest else found.name if found.name == _ALL else "", found.bound)
            if found.name != _ALL:
                bound = found.bound if found.name or found.bound != found.module else found.module.partition(".")[0]
                modules[bound] = name if bound == found.bound else bound
        for bound, name in modules.items():
            if resolver.is_folder(name, folder):
                # `import package` and then `package.module.function`: what is used tells which files that leads to.
                for chain in set(re.findall(_CHAIN % re.escape(bound.encode()), data)):
                    for target, rest in resolver.places(name + chain.decode("utf-8", "replace"), folder)[:1]:
                        yield Edge(target, rest[0] if rest else "", "")


class _Reach:
    """What is known so far of the ways to `start`: the imports of each file that lead there."""

    def __init__(self, start: set[str], edges: Mapping[str, tuple[Edge, ...]], texts: Mapping[str, bytes]) -> None:
        self.edges: defaultdict[str, set[Edge]] = defaultdict(set)
        self._start = start
        self._all = edges
        self._texts = texts
        self._bound: dict[str, dict[str, list[Edge]]] = {}

    def leads_there(self, edge: Edge) -> bool:
        """Whether what an edge imports can run the code of `start`."""
        target, name = edge.target, edge.name
        if target in self._start:
            return True
        known = self.edges.get(target)
        if not known:
            return False
        if name in ("", _ALL):
            return True
        given = self._names(target)
        if _defines(self._texts[target], name) or not (name in given or _ALL in given):
            return True
        if name in given:
            return any(one in known for one in given[name])
        return any(one in known and self._may_give(one.target, name, {target}) for one in given[_ALL])

    def _may_give(self, file: str, name: str, seen: set[str]) -> bool:
        """Whether `import *` from a file can bring a name."""
        if file in seen or file not in self._texts:
            return False
        stars = (edge.target for edge in self._names(file).get(_ALL, ()))
        return name.encode() in self._texts[file] or any(self._may_give(s, name, {*seen, file}) for s in stars)

    def _names(self, file: str) -> dict[str, list[Edge]]:
        if file not in self._bound:
            names: dict[str, list[Edge]] = {}
            for edge in self._all.get(file, ()):
                names.setdefault(edge.bound, []).append(edge)
            self._bound[file] = names
        return self._bound[file]


def _defines(data: bytes, name: str) -> bool:
    text = name.encode()
    return b"def " + text in data or b"class " + text in data or b"\n" + text + b" =" in data


def _absolute(found: ImportedName, package: str) -> str:
    if not found.level:
        return found.module
    parts = package.split(".") if package else []
    return ".".join([*parts[: len(parts) - found.level + 1], *([found.module] if found.module else [])])
