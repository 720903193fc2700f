"""The project index: which file a qualified name leads to. Files are read when they are first needed."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary

from exportlint.analysis.torch import table
from exportlint.source import SourceError, SourceFile, SyntaxProblem, parse, read
from exportlint.syntax.definitions import Class, FunctionNode, Import, Module
from exportlint.syntax.import_resolver import Resolver, absolute
from exportlint.syntax.unresolved_imports import UnreadFile, UnresolvedImport, unresolved_imports

MAX_IMPORT_HOPS = 20
_STAR = re.compile(r"\bimport\s*\(?\s*\*")
_STAR_IMPORT = re.compile(r"\bfrom[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*\(?[ \t]*\*")
MAX_MODULES = 400
"""Syntax trees of so many files are kept in memory, besides those that the file at hand needs."""


class SupersededError(BaseException):
    """Nobody waits for what is being worked out any more. No failure, so that nothing that minds failures minds it."""


class Project:
    """The files that belong together: everything below the roots of the files that are linted.

    `search` are folders that absolute imports start from, besides those that `Resolver` infers. `load` reads a file;
    the language server gives it unsaved text. `tree` parses one. `proceed` is called again and again by whoever works
    on the project, and may raise SupersededError. `clock` tells the seconds of processor time by which an analysis is
    limited. Never imports or runs anything.
    """

    def __init__(
        self,
        search: tuple[Path, ...] = (),
        load: Callable[[Path], SourceFile] = read,
        tree: Callable[[SourceFile], ast.Module] = parse,
        proceed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.resolver = Resolver(search)
        self.proceed = proceed
        self.clock = clock
        self._load = load
        self._tree = tree
        self._modules: dict[str, Module | None] = {}
        self._unread: dict[str, str] = {}
        self._members: dict[tuple[Module, str], tuple[Definition | str | None, frozenset[str]]] = {}
        """What names are by star imports, and the files that say so."""
        self._reads: set[str] = set()
        self._unresolved: WeakKeyDictionary[Module, tuple[UnresolvedImport, ...]] = WeakKeyDictionary()

    @property
    def reads(self) -> frozenset[Path]:
        """The files that were asked for since the last file was added."""
        return frozenset(map(Path, self._reads))

    @property
    def unresolved(self) -> frozenset[UnresolvedImport]:
        """The imports in these files that lead into the project, and to no file."""
        found: set[UnresolvedImport] = set()
        for key in self._reads:
            module = self._modules.get(key)
            if module is not None:
                if module not in self._unresolved:
                    self._unresolved[module] = unresolved_imports(module, self.resolver)
                found.update(self._unresolved[module])
        return frozenset(found)

    @property
    def unread(self) -> frozenset[UnreadFile]:
        """Those of these files that cannot be read or parsed."""
        return frozenset(UnreadFile(key, self._unread[key]) for key in self._reads if key in self._unread)

    def forget(self, path: Path) -> None:
        """Have a file read again when it is next needed, because it holds something else now."""
        path = absolute(path)
        self._members.clear()
        for gone in (path, path.with_suffix(".py")) if path.suffix == ".pyi" else (path,):
            self._modules.pop(gone.as_posix(), None)
            self._unread.pop(gone.as_posix(), None)

    def add(self, source: SourceFile) -> Module:
        """The module of a file that is linted. Raises SyntaxProblem."""
        key = absolute(source.path).as_posix()
        self._reads = {key}
        module = self._modules.get(key)
        if module is None or module.source.data != source.data:
            module = self._outline(source, Path(key))
            self._modules[key] = module
            self._members.clear()
        self._read(module)
        return module

    def trim(self, limit: int = MAX_MODULES) -> None:
        """Forget the files that were read first, once there are too many."""
        if len(self._modules) > limit:
            self._members.clear()  # they hold modules, which would be there twice once they are read again
        while len(self._modules) > limit:
            del self._modules[next(iter(self._modules))]

    def module(self, filename: str) -> Module:
        """A module that was read."""
        module = self._modules[Path(filename).as_posix()]
        assert module is not None
        return module

    def source(self, filename: str) -> SourceFile:
        """The file of a module that was read."""
        return self.module(filename).source

    def display_name(self, filename: str) -> str:
        """What the findings in a file call it: for standard input that is not its path."""
        return self.source(filename).filename

    def find(self, name: str, importer: Module, holding: str = "") -> tuple[Module, tuple[str, ...]] | None:
        """The module that a qualified name starts with, and the rest of the name. None if it is not of the project.

        With `holding`, also None if the module can not bind that name, because its text does not have it.
        """
        for path, rest in self.resolver.places(name, importer.path.parent.as_posix()):
            if holding and not rest and not self._may_bind(path, holding):
                return None
            module = self._module(path)
            if module is not None:
                return module, rest
        return None

    def resolve(self, name: str, importer: Module) -> Module | Definition | str | None:
        """What a qualified name stands for, through re-exports.

        That is the name itself, as the last file imports it, where it leads out of the project; None if it never was of
        the project.
        """
        for hop in range(MAX_IMPORT_HOPS):
            found = self.find(name, importer)
            if found is None:
                return name if hop else None
            module, rest = found
            if not rest:
                return module
            target = self.member(module, rest[0])
            if isinstance(target, str):
                name, importer = ".".join((target, *rest[1:])), module
                continue
            if len(rest) > 1 or target is None:
                return None
            return target
        return None

    def member(self, module: Module, name: str, seen: frozenset[Module] = frozenset()) -> Definition | str | None:
        """What a module binds to a name: a definition, the qualified name that an import gives it, or None.

        `seen` are the modules whose star imports led here.
        """
        binding = module.bindings.get(name)
        if isinstance(binding, Import):
            return binding.target
        if binding is not None:
            return Definition(module, name)
        if not module.stars:
            return None
        if seen:
            return self._starred(module, name, seen)
        known = self._members.get((module, name))
        if known is None:
            before, self._reads = self._reads, set()
            try:
                known = self._members[module, name] = (self._starred(module, name, seen), frozenset(self._reads))
            finally:
                self._reads = before
        self._reads |= known[1]
        return known[0]

    def _starred(self, module: Module, name: str, seen: frozenset[Module]) -> Definition | str | None:
        """What the star imports of a module bind to a name."""
        for star in module.stars:
            found = self.find(star, module, name)
            if found is None:
                if table.lookup(f"{star}.{name}") is not None:
                    return f"{star}.{name}"
            elif not found[1] and found[0] not in seen:
                inner = self.member(found[0], name, seen | {module})
                if inner is not None:
                    return inner
        return None

    def _may_bind(self, path: str, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a file can bind a name: reading is cheaper than parsing, where a package gathers a thousand files.

        `seen` are the files whose star imports led here.
        """
        if path in self._modules and not seen:
            return True
        try:
            source = self._load(Path(path))
        except SourceError:
            return True
        self._reads.add(path)
        text = source.text
        if name in text and re.search(rf"(?<![.\w]){re.escape(name)}(?!\w|[ \t]+import\b)", text) is not None:
            return True
        if "*" not in text or not (count := len(_STAR.findall(text))):
            return False
        stars = _STAR_IMPORT.findall(text)
        # Stars behind stars are followed from the file that is parsed for the first, so that none is read twice.
        if seen or len(stars) != count:  # or only a parser understands how they are written
            return True
        _, package = self.resolver.qualified_name(Path(path))
        return any(self._star_may_bind(path, package, star, name, seen | {path}) for star in stars)

    def _star_may_bind(
        self, path: str, package: str, written: tuple[str, str], name: str, seen: frozenset[str]
    ) -> bool:
        """Whether a star import in a file, which is `written` with these dots and this name, can bring a name."""
        dots, module = written
        start = package.split(".")[: len(package.split(".")) - len(dots) + 1] if dots else []
        star = ".".join([*filter(None, start), *([module] if module else [])])
        places = self.resolver.places(star, str(Path(path).parent.as_posix())) if star else ()
        if not places:
            return not star or table.lookup(f"{star}.{name}") is not None
        to, rest = places[0]
        return not rest and to not in seen and self._may_bind(to, name, seen)

    def _module(self, path: str) -> Module | None:
        self._reads.add(path)
        if path not in self._modules:
            try:
                self._modules[path] = self._outline(self._load(Path(path)), Path(path))
            except (SourceError, SyntaxProblem) as error:
                self._modules[path] = None
                self._unread[path] = error.message
        self._read(self._modules[path])
        return self._modules[path]

    def _read(self, module: Module | None) -> None:
        if module is not None and module.stub is not None:
            self._reads.add(module.stub.path.as_posix())

    def _outline(self, source: SourceFile, path: Path) -> Module:
        tree = self._tree(source)
        name, package = self.resolver.qualified_name(path)
        stub = _stub_of(path)
        is_there = stub is not None and stub.name in self.resolver.names(path.parent.as_posix())
        return Module(source, path, tree, name, package, self._module(stub.as_posix()) if stub and is_there else None)


def _stub_of(path: Path) -> Path | None:
    return path.with_suffix(".pyi") if path.suffix == ".py" else None


class Definition:
    """A class, function or assignment at the top level of a module."""

    __slots__ = ("module", "name")

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name

    @property
    def binding(self) -> object:
        """The class, function node or assignment."""
        return self.module.bindings[self.name]


__all__ = ["Class", "Definition", "FunctionNode", "Module", "Project", "SupersededError"]
