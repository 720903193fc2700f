"""How a file calls what is not its own, and names that are still free in it.

`spelled` and `qualified` lead from a qualified name to how a file writes it and back; `fresh` gives a free name,
`place_of_import` the line for an import.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import count

from exportlint.fixes.edit.statements import is_docstring
from exportlint.fixes.edit.text import Text
from exportlint.fixes.edit.tree import Scope, Tree, bound, parameters
from exportlint.fixes.errors import DeclinedError
from exportlint.syntax.definitions import TRIES, FunctionNode, dotted, imported, is_type_checking
from exportlint.syntax.walk import once_a_node


def spelled(name: str, tree: Tree, package: str, node: ast.AST, last_row: int) -> str | None:
    """How a qualified name, such as `torch.nn.functional.pad`, is written at a node; None if no import brings it.

    Only imports up to `last_row` count, those that have run when the node does. One that runs under a condition will do
    where there is no other: the code would not run without it.

    Raises:
        DeclinedError: the variables around the node hide every import of it.
    """
    taken = {local for scope in tree.ancestors(node) if isinstance(scope, Scope) for local in bound_names(scope)}
    parts = name.split(".")
    bindings = tree.once(_bindings_of(package), tree.root).about(parts, last_row)
    hidden = False
    for surely in (True, False):
        for length in range(len(parts), 0, -1):
            for local, binding in bindings.items():
                if ".".join(parts[:length]) in binding.targets and binding.surely >= surely:
                    if local not in taken and len(binding.targets) == 1:
                        return ".".join([local, *parts[length:]])
                    hidden = True
    if hidden or parts[0] in taken or parts[0] in bindings:
        raise DeclinedError(f"`{parts[0]}` means something else here")
    return None


def qualified(node: ast.expr, module: ast.Module, package: str) -> str | None:
    """The qualified name of what `a.b.c` stands for where `a` is a name of the file; None for anything else."""
    first, _, rest = (dotted(node) or "").partition(".")
    binding = _top_level(package)(module).get(first)
    targets = [first] if binding is None else list(binding.targets)
    if not first or len(targets) != 1 or targets[0] is None:
        return None
    return ".".join(filter(None, [targets[0], rest]))


@dataclass(slots=True)
class Binding:
    """What a name stands for at the top level of a file: qualified names from imports, None for anything else.

    `surely`: it is bound whenever the file is run.
    """

    targets: set[str | None] = field(default_factory=set)
    surely: bool = False


@functools.cache
def _top_level(package: str) -> Callable[[ast.Module], dict[str, Binding]]:
    """What finds the names of a file of a package, once for a file."""
    return once_a_node(lambda module: top_level(module.body, package))


def top_level(statements: list[ast.stmt], package: str) -> dict[str, Binding]:
    """The names that statements of a file bind, but for those that only type checkers see."""
    found: dict[str, Binding] = {}
    for name, target, surely in _bindings(statements, package, surely=True):
        binding = found.setdefault(name, Binding())
        binding.targets.add(target)
        binding.surely |= surely
    return found


@dataclass(frozen=True, slots=True)
class _Bindings:
    """The bindings of a file at its top level, each with the row of its statement, and the names of imports."""

    rows: Mapping[str, Sequence[tuple[int, str | None, bool]]]
    names: Mapping[str, AbstractSet[str]]

    def about(self, parts: Sequence[str], last_row: int) -> dict[str, Binding]:
        """What a dotted name, a start of it, and a name like its first part are bound to by the code up to a row."""
        starts = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        names = {parts[0]}.union(*(self.names.get(start, ()) for start in starts))
        found: dict[str, Binding] = {}
        for name in sorted(names & self.rows.keys(), key=lambda name: (self.rows[name][0][0], name)):
            ran = [(target, surely) for row, target, surely in self.rows[name] if row <= last_row]
            if ran:
                found[name] = Binding({target for target, _ in ran}, any(surely for _, surely in ran))
        return found


@functools.cache
def _bindings_of(package: str) -> Callable[[ast.Module], _Bindings]:
    """What finds all bindings of a file of a package, always the same function, so that it is run once for a file."""

    def found(root: ast.Module) -> _Bindings:
        rows: dict[str, list[tuple[int, str | None, bool]]] = {}
        names: dict[str, set[str]] = {}
        for statement in root.body:
            for name, target, surely in _bindings([statement], package, surely=True):
                rows.setdefault(name, []).append((statement.lineno, target, surely))
                if target is not None:
                    names.setdefault(target, set()).add(name)
        return _Bindings(rows, names)

    return found


def _bindings(body: list[ast.stmt], package: str, *, surely: bool) -> Iterator[tuple[str, str | None, bool]]:
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from ((local, target, surely) for local, target in imported(statement, package) if local != "*")
        elif isinstance(statement, (FunctionNode, ast.ClassDef)):
            yield statement.name, None, surely
        elif isinstance(statement, ast.With):
            yield from _bindings(statement.body, package, surely=surely)
            yield from ((name, None, surely) for item in statement.items for name in bound([item]))
        elif isinstance(statement, ast.If):
            if not is_type_checking(statement.test):
                yield from _bindings(statement.body, package, surely=False)
            yield from _bindings(statement.orelse, package, surely=False)
        elif isinstance(statement, TRIES):
            tried = list(_bindings([*statement.body, *statement.orelse], package, surely=False))
            yield from tried
            # What stands in for a module that is not there does so where the code at hand does not run.
            names = {name for name, _, _ in tried}
            for handler in statement.handlers:
                yield from (b for b in _bindings(handler.body, package, surely=False) if b[0] not in names)
            yield from _bindings(statement.finalbody, package, surely=surely)
        else:
            yield from ((name, None, surely) for name in bound([statement]))


@once_a_node
def bound_names(scope: Scope) -> frozenset[str]:
    """The names that a function binds: its parameters, and what its body assigns, imports and defines."""
    found = {a.arg for a in (*parameters(scope), scope.args.vararg, scope.args.kwarg) if a is not None}
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    return frozenset(found.union(bound(body, comprehensions=True)))


def fresh(name: str, taken: AbstractSet[str]) -> str:
    """`name`, or the first of `name_1`, `name_2` … that is not taken."""
    if name not in taken:
        return name
    return next(candidate for number in count(1) if (candidate := f"{name}_{number}") not in taken)


def place_of_import(source: Text, module: ast.Module, name: str, row: int, origin: str = "") -> tuple[int, str]:
    r"""Where `import name`, which code in a row needs, goes, and what has to be inserted there.

    It goes in front of the first import from the same package, else behind the first block of imports, else behind the
    docstring. Imports under `if TYPE_CHECKING:` or in a `try` are not part of the block. In a notebook, which is run
    cell by cell, the block is that of the cell.
    """
    lines, line = source.lines, f"from {origin} import {name}" if origin else f"import {name}"
    package = name.partition(".")[0]
    for statement in module.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and statement.lineno < row:
            start = lines.offset(lines.from_ast(statement.lineno, statement.col_offset))
            if _package(statement) == package and start == lines.line_start(statement.lineno):
                return start, f"{line}\n"
    last: ast.stmt | None = None
    body = [statement for statement in module.body if statement.lineno in source.block(row)]
    for index, statement in enumerate(body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement
        elif index or not is_docstring(statement):
            break
        else:
            last = statement
    if last is not None:
        # What stands behind it in its line keeps its place.
        behind = [s for s in body if s.lineno == last.end_lineno]
        end = max([last, *behind], key=lambda s: s.end_lineno or s.lineno).end_lineno or last.lineno
        return lines.line_end(end), f"\n\n{line}" if is_docstring(last) else f"\n{line}"
    if not body:
        return len(source.text), f"\n{line}"
    first = body[0]
    rows = [first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))]
    return lines.line_start(min(rows)), f"{line}\n\n"


def _package(statement: ast.Import | ast.ImportFrom) -> str:
    if isinstance(statement, ast.ImportFrom):
        return "" if statement.level else (statement.module or "").partition(".")[0]
    return statement.names[0].name.partition(".")[0]
