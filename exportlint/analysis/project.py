"""The project index: which file a qualified name leads to. Files are read when they are first needed."""

from __future__ import annotations

import ast
import functools
import gc
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

from exportlint.analysis.torch import table
from exportlint.source import SourceError, SourceFile, SyntaxProblem, parse, read
from exportlint.syntax.chunks import Outline
from exportlint.syntax.definitions import Class, FunctionNode, Import, Module
from exportlint.syntax.import_resolver import Resolver, absolute
from exportlint.syntax.inputs import Record, Recorder
from exportlint.syntax.unresolved_imports import UnreadFile, UnresolvedImport, unresolved_imports

MAX_IMPORT_HOPS = 20
_STAR = re.compile(r"\bimport\s*\(?\s*\*")
_STAR_IMPORT = re.compile(r"\bfrom[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*\(?[ \t]*\*")
MAX_MODULES = 400
"""The number of files whose syntax trees stay in memory, besides those that the current file needs."""
MAX_CHARACTERS = 3_000_000
"""The number of characters in these files; their trees take about 200 MB."""


MANY_STARS = 16
"""With at least this many star imports in a module, names are not looked up in the order of the source."""


class SupersededError(BaseException):
    """The current work is no longer needed. A BaseException, so that code that handles failures does not catch it."""


Lookup = tuple[str, str]
"""A name that was looked up at the top level of a file: its path, and the name."""


@dataclass(frozen=True, slots=True)
class Noted:
    """The files read, the questions asked and the names looked up during one computation."""

    record: Record = field(default_factory=Record)
    names: frozenset[Lookup] = frozenset()


class Shared(Protocol):
    """A result computed from several files and shared by all of them."""

    def drop(self, paths: Collection[str]) -> None:
        """Forget what depends on these files, which have changed."""


S = TypeVar("S", bound=Shared)


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
        self.recorder = Recorder()
        self.resolver = Resolver(search, self.recorder)
        self.proceed = proceed
        self.clock = clock
        self.timed_out = False
        """Whether time ran out since the last file was added: analyzing it again may find more."""
        self._forgotten = 0
        """Characters of files that were forgotten since garbage was collected."""
        self._load = load
        self._tree = tree
        self._modules: dict[str, Module | None] = {}
        self._unread: dict[str, str] = {}
        self._outline_records: dict[str, Record] = {}
        """By path, what a module depends on besides its own text: its stub, and where its folder is."""
        self._members: dict[tuple[Module, str], tuple[Definition | str | None, Record]] = {}
        """What star imports bind to names, and the files that this depends on."""
        self.asked: set[Lookup] = set()
        """The names that were looked up since somebody last cleared it."""
        self._outlines: dict[str, tuple[Module, Outline]] = {}
        self._versions: Counter[str] = Counter()
        self._shared: dict[object, Shared] = {}
        self._unresolved: WeakKeyDictionary[Module, tuple[tuple[UnresolvedImport, ...], Record]] = WeakKeyDictionary()

    @property
    def reads(self) -> frozenset[Path]:
        """The files that were asked for since the last file was added."""
        return frozenset(map(Path, self.recorder.record().files))

    @property
    def unresolved(self) -> frozenset[UnresolvedImport]:
        """The imports in these files that should lead to a file of the project but do not."""
        found: set[UnresolvedImport] = set()
        for key in self.recorder.record().files:
            module = self._modules.get(key)
            if module is not None:
                if module not in self._unresolved:
                    with self.recorder.capture() as captured:
                        self._unresolved[module] = unresolved_imports(module, self.resolver), captured()
                imports, record = self._unresolved[module]
                self.recorder.replay(record)
                found.update(imports)
        return frozenset(found)

    @property
    def unread(self) -> frozenset[UnreadFile]:
        """Those of these files that cannot be read or parsed."""
        reads = self.recorder.record().files
        return frozenset(UnreadFile(key, self._unread[key]) for key in reads if key in self._unread)

    def shared(self, make: Callable[[], S], settings: object) -> S:
        """What is worked out under some settings for all files: one thing that `make` makes when it is first needed."""
        found = self._shared.get((make, settings))
        if found is None:
            found = self._shared[make, settings] = make()
        return cast(S, found)

    @contextmanager
    def noting(self) -> Iterator[Callable[[], Noted]]:
        """Record separately what the block reads, asks and looks up; call the yielded function for the record."""
        before, self.asked = self.asked, set()
        try:
            with self.recorder.capture() as captured:
                yield lambda: Noted(captured(), frozenset(self.asked))
        finally:
            self.asked = before

    def replay(self, noted: Noted) -> None:
        """Note what was noted before."""
        self.recorder.replay(noted.record)
        self.asked |= noted.names

    def _drop_dependents(self, paths: Collection[str]) -> None:
        for shared in self._shared.values():
            shared.drop(paths)

    def is_past(self, deadline: float) -> bool:
        """Whether the deadline has passed, after which work stops early."""
        is_past = self.clock() > deadline
        self.timed_out = self.timed_out or is_past
        return is_past

    def forget(self, path: Path) -> None:
        """Read a file again when it is next needed, because its content has changed."""
        path = absolute(path)
        self._members.clear()
        for gone in (path, path.with_suffix(".py")) if path.suffix == ".pyi" else (path,):
            self._drop_dependents([gone.as_posix()])
            self._modules.pop(gone.as_posix(), None)
            self._unread.pop(gone.as_posix(), None)
            self._versions[gone.as_posix()] += 1

    def add(self, source: SourceFile) -> Module:
        """The module of a file that is linted. Raises SyntaxProblem."""
        key = absolute(source.path).as_posix()
        self.recorder.start()
        self.recorder.read(key)
        self.timed_out = False
        module = self._modules.get(key)
        if module is None or module.source.data != source.data:
            module = self._outline(source, Path(key))
            self._modules[key] = module
            self._members.clear()
            self._drop_dependents([key])
        self.recorder.replay(self._outline_records[key])
        return module

    def trim(
        self, limit: int = MAX_MODULES, characters: int = MAX_CHARACTERS, *, holds_all_modules: bool = False
    ) -> bool:
        """Forget the least recently used files if there are too many. Returns whether there were.

        `holds_all_modules`: no result that is kept elsewhere has any of these modules or their classes.
        """
        needed = self.recorder.record().files
        for path in [path for path in self._modules if path in needed]:
            self._modules[path] = self._modules.pop(path)  # the file that was looked at last needs them
        sizes = {path: len(module.source.text) for path, module in self._modules.items() if module is not None}
        total, gone = sum(sizes.values()), list[str]()
        for path in self._modules:
            if len(self._modules) - len(gone) <= limit and total <= characters:
                break
            gone.append(path)
            total -= sizes.get(path, 0)
        # A stub is held by the module that it is beside, too.
        ending = [module for path in gone if (module := self._modules[path]) is not None and not module.is_stub]
        self._drop(gone)
        if holds_all_modules:
            for module in ending:
                module.dissolve()
            return bool(gone)
        self._forgotten += sum(sizes.get(path, 0) for path in gone)
        if self._forgotten > characters / 2:
            # A module and its classes hold each other, and the collector is paused while nearly all is allocated: it
            # would never reach objects as old as these.
            gc.collect()
            self._forgotten = 0
        return bool(gone)

    def has_parsed(self, path: Path) -> bool:
        """Whether a file is kept parsed."""
        return path.as_posix() in self._modules

    @property
    def size(self) -> int:
        """The characters of all files that are parsed."""
        return sum(len(module.source.text) for module in self._modules.values() if module is not None)

    def retain(self, paths: Collection[str]) -> bool:
        """Forget all parsed files except `paths`. Returns whether there were any."""
        gone = [path for path in self._modules if path not in paths]
        self._drop(gone)
        return bool(gone)

    def _drop(self, paths: Sequence[str]) -> None:
        for path in paths:
            del self._modules[path]
            self._outlines.pop(path, None)
            self._outline_records.pop(path, None)
        if paths:
            self._drop_dependents(paths)
            self._members.clear()  # they hold modules, which would be there twice once they are read again

    def outline(self, path: str) -> tuple[Module, Outline] | None:
        """A file that was read once, as it is now, and its chunks; None if it never had to be parsed, or cannot be."""
        if path not in self._modules and path not in self._outlines:
            return None
        with self.recorder.capture():
            module = self._module(path)
        if module is None:
            return None
        known = self._outlines.get(path)
        if known is None or known[0] is not module:
            known = self._outlines[path] = module, Outline(module, known[1] if known is not None else None)
        return known

    def version(self, path: str) -> int:
        """A version number of a file, which is different after each change."""
        return self._versions[path]

    def module(self, filename: str) -> Module:
        """A module that was read."""
        module = self._modules[_key(filename)]
        assert module is not None
        return module

    def source(self, filename: str) -> SourceFile:
        """The file of a module that was read."""
        return self.module(filename).source

    def display_name(self, filename: str) -> str:
        """The file name to show in findings, which for standard input is not its path."""
        return self.source(filename).filename

    def find(self, name: str, importer: Module, holding: str = "") -> tuple[Module, tuple[str, ...]] | None:
        """The module that a qualified name starts with, and the rest of the name. None if it is not of the project.

        With `holding`, also None if the text of the module does not contain that name, so that it cannot bind it.
        """
        for path, rest in self.resolver.places(name, importer.path.parent.as_posix()):
            if holding and not rest and not self._may_bind(path, holding):
                return None
            module = self._module(path)
            if module is not None:
                return module, rest
        return None

    def content(self, path: str) -> bytes:
        """The content of a file, which is not parsed; empty if it cannot be read."""
        self.recorder.read(path)
        try:
            return self._load(Path(path)).data
        except SourceError:
            return b""

    def resolve(self, name: str, importer: Module) -> Module | Definition | str | None:
        """What a qualified name stands for, through re-exports.

        If it leads out of the project, the qualified name as the last file imports it; None if it never was part of the
        project.
        """
        for hop in range(MAX_IMPORT_HOPS):
            found = self.find(name, importer)
            if found is None:
                return name if hop else None
            module, rest = found
            if not rest:
                shadow = self._shadow(name, module, importer)
                if isinstance(shadow, str):
                    name = shadow
                    continue
                return shadow or module
            target = self.member(module, rest[0])
            if isinstance(target, str):
                name, importer = ".".join((target, *rest[1:])), module
                continue
            if len(rest) > 1 or target is None:
                return None
            return target
        return None

    def _shadow(self, name: str, module: Module, importer: Module) -> Definition | str | None:
        """What a package binds to the name of one of its modules: `from .contract import contract` in `__init__.py`."""
        parent, _, last = name.rpartition(".")
        found = self.find(parent, importer, last) if parent else None
        if found is None or found[1] or found[0] is module or last not in found[0].bindings:
            return None
        target = self.member(found[0], last)
        return None if target == name else target

    def meaning(self, module: Module, name: str) -> Module | Definition | str | None:
        """What a name stands for at the top level of a module, through imports and re-exports."""
        member = self.member(module, name)
        return self.resolve(member, module) if isinstance(member, str) else member

    def definition(self, module: Module, name: str) -> Definition | None:
        """The definition at the top level of a file of the project that a dotted name of a module stands for."""
        first, dot, rest = name.partition(".")
        found = self.member(module, first)
        if isinstance(found, str):
            target = self.resolve(found + dot + rest, module)
            return target if isinstance(target, Definition) else None
        return None if rest else found

    def member(self, module: Module, name: str, seen: frozenset[Module] = frozenset()) -> Definition | str | None:
        """What a module binds to a name: a definition, the qualified name that an import gives it, or None.

        `seen` are the modules whose star imports led here.
        """
        self.asked.add((module.key, name))
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
            with self.recorder.capture() as captured:
                known = self._members[module, name] = self._starred(module, name, seen), captured()
        self.recorder.replay(known[1])
        return known[0]

    def _starred(self, module: Module, name: str, seen: frozenset[Module]) -> Definition | str | None:
        """What the star imports of a module bind to a name."""
        for star in _likeliest_first(module.stars, name):
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
        self.recorder.read(path)
        text = source.normalized
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
        self.recorder.read(path)
        if path not in self._modules:
            try:
                self._modules[path] = self._outline(self._load(Path(path)), Path(path))
            except (SourceError, SyntaxProblem) as error:
                self._modules[path] = None
                self._unread[path] = error.message
        if path in self._outline_records:
            self.recorder.replay(self._outline_records[path])
        return self._modules[path]

    def _outline(self, source: SourceFile, path: Path) -> Module:
        with self.recorder.capture() as captured:
            tree = self._tree(source)
            name, package = self.resolver.qualified_name(path)
            stub = _stub_of(path)
            is_there = stub is not None and self.resolver.holds(stub.name, path.parent.as_posix())
            stub_module = self._module(stub.as_posix()) if stub and is_there else None
            is_packaged = self.resolver.holds("__init__.py", path.parent.as_posix())
            module = Module(source, path, tree, name, package, stub_module, is_packaged=is_packaged)
            self._outline_records[path.as_posix()] = captured()
        return module


@functools.lru_cache(maxsize=MAX_MODULES)
def _key(filename: str) -> str:
    return Path(filename).as_posix()


def _likeliest_first(stars: list[str], name: str) -> list[str]:
    """Star imports in the order in which a name is looked up: first those of modules that it may be called after.

    `UdopConfig` is probably defined in `models.udop`, not in one of the five hundred other packages that `models`
    gathers, and only the modules searched before it are read. A few stars keep their order: reading them all is cheap,
    and if two bind one name, the order of the source decides.
    """
    if len(stars) < MANY_STARS:
        return stars
    wanted = _plain(name)

    def length(star: str) -> int:
        last = _plain(star.rpartition(".")[2])
        return len(last) if last in wanted else 0

    return sorted(stars, key=length, reverse=True)


def _plain(name: str) -> str:
    """A name in the form in which module names and class names can be compared: `UdopConfig` and `udop_config`."""
    return name.replace("_", "").lower()


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
