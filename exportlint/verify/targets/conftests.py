"""Fixtures that tests get from elsewhere: from `conftest.py` in the folders around, and from what is imported."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator

from exportlint.analysis.project import Project
from exportlint.syntax.definitions import FunctionNode, Module, absolute_module
from exportlint.verify.targets.fixtures import Shared, is_fixture, params_of
from exportlint.verify.targets.slices import Scope, free, main_body, slice_of


class Conftests:
    """The fixtures of a project. `files` are all that may have some."""

    def __init__(self, project: Project, files: Callable[[], Iterable[Module]]) -> None:
        self._project = project
        self._files = files
        self._known: dict[FunctionNode, FunctionNode | None] = {}

    def seen_by(self, module: Module) -> Shared:
        """What gives the fixtures that the tests of a file can ask for, each with what it needs of its own file."""

        def find(name: str) -> FunctionNode | None:
            for one in (module, *self._around(module)):
                found = self._project.definition(one, name)
                if found is not None and isinstance(found.binding, FunctionNode) and is_fixture(found.binding):
                    return self._alone(found.module, found.binding)
            return None

        return find

    def _around(self, module: Module) -> Iterator[Module]:
        """The nearest `conftest.py` first."""
        folders = module.path.parents
        files = [one for one in self._files() if one.path.name == "conftest.py" and one.path.parent in folders]
        yield from sorted(files, key=lambda one: -len(one.path.parts))

    def _alone(self, module: Module, fixture: FunctionNode) -> FunctionNode | None:
        """A fixture that can stand in another file; None if that cannot be told."""
        if fixture not in self._known:
            self._known[fixture] = _standing_alone(module, fixture)
        return self._known[fixture]


def _standing_alone(module: Module, fixture: FunctionNode) -> FunctionNode | None:
    function = copy.copy(fixture)
    undecorated = copy.copy(fixture)
    undecorated.decorator_list = []
    body = main_body(module)
    names = free(undecorated).union(*map(free, params_of(fixture)))
    wanted: list[ast.expr] = [ast.Name(name, ast.Load()) for name in sorted(names)]
    picked = slice_of(Scope(module, body), ((body, len(body)),), wanted, is_imported=False)
    if picked is None:
        return None
    before = []
    for statement in picked:
        absolute = _absolute(statement, module.package)
        if absolute is None:
            return None
        before.append(absolute)
    function.body = [*before, *fixture.body]
    return function


def _absolute(statement: ast.stmt, package: str) -> ast.stmt | None:
    """An import as it is written in other folders; other statements as they are."""
    if not isinstance(statement, ast.ImportFrom):
        return statement
    if statement.names[0].name == "*":  # which cannot stand in a function
        return None
    if not statement.level:
        return statement
    name = absolute_module(statement.module or "", statement.level, package)
    depth = package.count(".") + 1 if package else 0
    if statement.level - 1 > depth or not name:
        return None
    return ast.copy_location(ast.ImportFrom(name, statement.names, 0), statement)
