"""What a file defines at top level: imports, classes, functions, assignments. Nothing is evaluated."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from exportlint.source import SourceFile
from exportlint.syntax.class_roles import called, handed_on, held_by_classes, made, parts, registered
from exportlint.syntax.walk import once_a_node, statements_below, walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
FunctionLike = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))
"""`try`, also with `except*`: both have the same fields."""


@dataclass(frozen=True, slots=True)
class Import:
    """A name bound by an import: `target` is the qualified name of what it stands for, made absolute."""

    target: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """A name bound by an assignment; `index` is its place in the tuple that is unpacked."""

    value: ast.expr
    index: int | None = None


_NAMES_OF_MODULE = frozenset({"path", "filename", "name", "package"})
"""What a module that is dissolved is still called."""


class Class:
    """A class statement of the project."""

    def __init__(self, module: Module, node: ast.ClassDef, qualname: str) -> None:
        self.module = module
        self.node = node
        self.qualname = qualname

    @property
    def full_name(self) -> str:
        """How it is called in the whole project."""
        return f"{self.module.name}.{self.qualname}".lstrip(".")

    @cached_property
    def methods(self) -> dict[str, FunctionNode]:
        """Functions of the class body by name; the last definition wins, as at run time, but for property setters."""
        found: dict[str, FunctionNode] = {}
        for statement in flat(self.node.body):
            if isinstance(statement, FunctionNode) and not _is_accessor(statement):
                found[statement.name] = statement
        return found

    @cached_property
    def attributes(self) -> dict[str, ast.expr | None]:
        """Names assigned or only annotated (None) in the class body."""
        found: dict[str, ast.expr | None] = {}
        for statement in flat(self.node.body):
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        found[target.id] = statement.value
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                found.setdefault(statement.target.id, statement.value)
        return found

    @cached_property
    def annotations(self) -> dict[str, ast.expr]:
        """Annotated names of the class body, in order."""
        return {
            s.target.id: s.annotation
            for s in self.node.body
            if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
        }


class Module:
    """A file of the project.

    `path` is absolute, and `key` the same with slashes; `name` is its qualified name, `package` the package that
    relative imports start from. `stub` is the stub file beside it, which annotates what the file itself does not.
    `is_packaged`: its folder has an `__init__.py`.
    """

    def __init__(
        self,
        source: SourceFile,
        path: Path,
        tree: ast.Module,
        name: str,
        package: str,
        stub: Module | None = None,
        *,
        is_packaged: bool = False,
    ) -> None:
        self.source = source
        self.path = path
        self.filename = str(path)
        self.key = path.as_posix()
        self.tree = tree
        self.name = name
        self.package = package
        self.stub = stub
        self.is_packaged = is_packaged
        self.bindings: dict[str, Class | FunctionNode | Import | Assignment] = {}
        self.stars: list[str] = []
        self._bind(flat(tree.body))

    def dissolve(self) -> None:
        """Let go of its tree and definitions, which nobody is to ask it for again.

        Its classes hold it in turn: without this, its tree would stay until the garbage collector walks all trees.
        """
        for part in vars(self).keys() - _NAMES_OF_MODULE:
            delattr(self, part)

    def calls_with(self, method: str, argument: object) -> bool:
        """Whether the file calls a method of that name, with that constant as its argument."""
        if method not in self.source.text:
            return False
        return any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == method
            and any(isinstance(a, ast.Constant) and a.value is argument for a in node.args)
            for node in ast.walk(self.tree)
        )

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """All classes of the file, also those inside functions and classes, in order."""
        found: list[Class] = []

        def visit(body: Sequence[ast.stmt], prefix: str) -> None:
            for statement in flat(body):
                if not prefix and not _holds_classes(statement):
                    continue
                if isinstance(statement, ast.ClassDef):
                    known = self.bindings.get(statement.name)
                    is_known = isinstance(known, Class) and known.node is statement
                    cls = known if is_known else Class(self, statement, prefix + statement.name)
                    assert isinstance(cls, Class)
                    found.append(cls)
                    if not prefix and not _holds_inner_classes(statement):
                        continue
                    visit(statement.body, f"{cls.qualname}.")
                elif isinstance(statement, FunctionNode):
                    visit(statement.body, f"{prefix}{statement.name}.<locals>.")

        visit(self.tree.body, "")
        return tuple(found)

    def class_named(self, qualname: str) -> Class | None:
        """The class with a qualified name, that of its functions and classes included."""
        return self._classes_by_name.get(qualname)

    @cached_property
    def _classes_by_name(self) -> dict[str, Class]:
        return {cls.qualname: cls for cls in self.classes}

    def class_around(self, row: int) -> Class | None:
        """The innermost class around a row."""
        rows, found = self._classes_by_row
        at = bisect_right(rows, row) - 1
        while at >= 0:
            cls, around = found[at]
            if row <= (cls.node.end_lineno or 0):
                return cls
            at = around
        return None

    @cached_property
    def _classes_by_row(self) -> tuple[list[int], list[tuple[Class, int]]]:
        """The rows in which classes begin, and each class with the index of the one around it, or else -1."""
        classes = sorted(self.classes, key=lambda cls: cls.node.lineno)
        around: list[tuple[Class, int]] = []
        for cls in classes:
            at = len(around) - 1
            while at >= 0 and (around[at][0].node.end_lineno or 0) < cls.node.lineno:
                at = around[at][1]
            around.append((cls, at))
        return [cls.node.lineno for cls in classes], around

    @cached_property
    def is_stub(self) -> bool:
        """Whether it only declares, and has no code."""
        return self.path.suffix == ".pyi"

    @cached_property
    def walruses(self) -> frozenset[str]:
        """Names that `:=` binds somewhere."""
        if ":=" not in self.source.text:
            return frozenset()
        return frozenset[str]().union(*map(_walruses, self.tree.body))

    @cached_property
    def used_in_classes(self) -> frozenset[str]:
        """Names that a class other than the one they name calls, or hands on: such modules are parts of others.

        What functions of the module use is used by those that call them.
        """
        found: set[str] = set()
        for cls in self.classes:
            waiting, seen = [*called(cls.node), *held_by_classes(cls.node)], {cls.node.name}
            while waiting:
                name = waiting.pop()
                if name in seen:
                    continue
                seen.add(name)
                definition = self.bindings.get(name)
                if isinstance(definition, FunctionNode):
                    waiting += called(definition) | handed_on(definition)
            found |= seen - {cls.node.name}
        return frozenset(found)

    @cached_property
    def parts(self) -> frozenset[str]:
        """Names that other classes of the file need."""
        return parts(self.tree)

    @cached_property
    def used_parts(self) -> frozenset[str]:
        """The same without those that only stand in a table which nothing but tests reads in the file."""
        return parts(self.tree, tables=False)

    @cached_property
    def subclassed(self) -> frozenset[str]:
        """The last names of what classes of the file have as bases."""
        bases = (dotted(base) for cls in self.classes for base in cls.node.bases)
        return frozenset(name.rpartition(".")[2] for name in bases if name is not None)

    @cached_property
    def made(self) -> frozenset[str]:
        """Names that the file calls when it is run or exports."""
        return made(self.tree)

    @cached_property
    def registered(self) -> frozenset[str]:
        """Names that the file registers somewhere."""
        return registered(self.tree)

    def _bind(self, statements: Iterator[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.ClassDef):
                self.bindings[statement.name] = Class(self, statement, statement.name)
            elif isinstance(statement, FunctionNode):
                self.bindings[statement.name] = statement
            elif isinstance(statement, (ast.Import, ast.ImportFrom)):
                for name, target in imported(statement, self.package):
                    if name == "*":
                        self.stars.append(target)
                    else:
                        self.bindings[name] = Import(target)
            elif isinstance(statement, ast.Assign):
                for target_node in statement.targets:
                    self._bind_target(target_node, statement.value)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                self._bind_target(statement.target, statement.value)

    def _bind_target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            # `try: from x import f … except ImportError: f = None`: the import is what matters
            if isinstance(value, ast.Constant) and value.value is None and target.id in self.bindings:
                return
            self.bindings[target.id] = Assignment(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Name):
                    self.bindings[element.id] = Assignment(value, index)


def flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body and of the `if`, `try` and `with` statements in it, which open no scope."""
    waiting = list(reversed(body))
    while waiting:
        statement = waiting.pop()
        yield statement
        inner: list[ast.stmt] = []
        if isinstance(statement, ast.If):
            # the last definition counts: that of the first way, but for what only type checkers see
            ways = (statement.body, statement.orelse)
            for way in ways if is_type_checking(statement.test) else reversed(ways):
                inner += way
        elif isinstance(statement, TRIES):
            handled = [child for handler in statement.handlers for child in handler.body]
            tried = [*statement.orelse, *statement.body]
            inner += [*tried, *handled] if _falls_back_on_torch(statement.body, handled) else [*handled, *tried]
            inner += statement.finalbody
        elif isinstance(statement, ast.With):
            inner += statement.body
        waiting += reversed(inner)


def _falls_back_on_torch(tried: Sequence[ast.stmt], handled: Sequence[ast.stmt]) -> bool:
    """Whether torch stands in for another library: `except ImportError: import torch.distributions as d`."""
    modules, instead = _imported_modules(tried), _imported_modules(handled)
    return any(map(_is_torch, instead)) and bool(modules) and not any(not m or _is_torch(m) for m in modules)


def _imported_modules(statements: Iterable[ast.stmt]) -> list[str]:
    """The modules that statements import, an empty one for each that is told relative to the package."""
    found: list[str] = []
    for statement in statements:
        if isinstance(statement, ast.Import):
            found += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            found.append("" if statement.level else statement.module or "")
    return found


def _is_torch(module: str) -> bool:
    return module.partition(".")[0] == "torch"


def is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is true for type checkers only."""
    return (dotted(test) or "").endswith("TYPE_CHECKING")


def imported(statement: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    """The names that an import binds, each with the qualified name of what it stands for."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.asname:
                yield alias.asname, alias.name
            else:
                top = alias.name.partition(".")[0]
                yield top, top
        return
    base = absolute_module(statement.module or "", statement.level, package)
    for alias in statement.names:
        target = base if alias.name == "*" else f"{base}.{alias.name}".lstrip(".")
        yield alias.asname or alias.name, target


def absolute_module(module: str, level: int, package: str) -> str:
    """The qualified name of a module that a file of a package imports from, `level` dots up."""
    if not level:
        return module
    parts = package.split(".") if package else []
    return ".".join([*parts[: len(parts) - level + 1], *([module] if module else [])])


def unindexed(node: ast.AST) -> ast.AST:
    """`a` of `a[i][j]`."""
    return unindexed(node.value) if isinstance(node, ast.Subscript) else node


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` as written, or None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else None
    return None


def _holds_classes(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ClassDef) or _holds_inner_classes(statement)


def _holds_inner_classes(statement: ast.stmt) -> bool:
    return ast.ClassDef in statements_below(statement)


@once_a_node
def _walruses(statement: ast.stmt) -> frozenset[str]:
    return frozenset(node.target.id for node in walk(statement) if isinstance(node, ast.NamedExpr))


def _is_accessor(node: FunctionNode) -> bool:
    return any(isinstance(d, ast.Attribute) and d.attr in {"setter", "deleter"} for d in node.decorator_list)
