"""Imports of the project that lead nowhere, or to no readable file: what they bring is unknown to the analysis."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.syntax.walk import statements_below

if TYPE_CHECKING:
    from exportlint.syntax.definitions import Module
    from exportlint.syntax.import_resolver import Resolver


_IMPORTS = frozenset({ast.Import, ast.ImportFrom})


@dataclass(frozen=True, slots=True, order=True)
class UnresolvedImport:
    """An import statement, by the absolute path of its file and its row, and the module that is not found."""

    filename: str
    row: int
    name: str


@dataclass(frozen=True, slots=True, order=True)
class UnreadFile:
    """A file that is imported and cannot be read or parsed, by its absolute path, and why."""

    filename: str
    reason: str


def unresolved_imports(module: Module, resolver: Resolver) -> tuple[UnresolvedImport, ...]:
    """The imports of a file that lead into the project and to no file, in order.

    What may fail, as an `except` around it says, and what only type checkers see is left out.
    """
    folder = module.path.parent.as_posix()
    return tuple(
        UnresolvedImport(module.filename, statement.lineno, name)
        for statement in _statements([outer for outer in module.tree.body if _imports(outer)])
        for name in _modules(statement, module)
        if resolver.is_unresolved(name, folder)
    )


def _imports(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom)) or not _IMPORTS.isdisjoint(statements_below(statement))


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    from exportlint.syntax.definitions import is_type_checking

    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement
        elif handlers := getattr(statement, "handlers", ()):
            for handler in handlers:
                yield from _statements(handler.body)
            yield from _statements(getattr(statement, "orelse", ()))
            yield from _statements(getattr(statement, "finalbody", ()))
        elif isinstance(statement, ast.If):
            yield from _statements(statement.orelse if is_type_checking(statement.test) else statement.body)
            yield from _statements(() if is_type_checking(statement.test) else statement.orelse)
        elif isinstance(statement, ast.Match):
            for case in statement.cases:
                yield from _statements(case.body)
        else:
            for field in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, field, ()))


def _modules(statement: ast.Import | ast.ImportFrom, module: Module) -> list[str]:
    """The modules that a statement surely imports."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    package = module.package.split(".") if module.package else []
    base = package[: len(package) - statement.level + 1] if statement.level else []
    name = ".".join([*base, *([statement.module] if statement.module else [])])
    return [name] if name else []
