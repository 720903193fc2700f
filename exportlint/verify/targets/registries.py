"""Registries: what a project keeps models in by name, as `MODELS = {"a": A}`, or by decorators, as `@register("a")`.

The files of a project are registries, too: `getattr(nets, name)`, `nets.__dict__[name]`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from exportlint.analysis.project import Definition, Project
from exportlint.syntax.definitions import Assignment, Class, FunctionNode, Module, dotted, flat

_Place = tuple[Module, str]
"""The file and the name of a registry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a registry has under a key: an expression, and the file in which it stands."""

    key: object
    module: Module
    value: ast.expr


class Registries:
    """The registries of a project."""

    def __init__(self, project: Project, files: Callable[[], Iterable[Module]]) -> None:
        self._project = project
        self._files = files

    def entries(self, module: Module, node: ast.expr) -> Iterator[Entry]:
        """What the registry that an expression of a file names has."""
        file = self._file(module, node)
        if file is not None:
            yield from self._defined(file, frozenset())
            return
        definition = self._definition(module, node)
        if definition is not None and isinstance(definition.binding, Assignment):
            owner, name = definition.module, definition.name
            yield from entries_of(owner, definition.binding.value)
            for statement in owner.tree.body:
                match statement:
                    case ast.Assign(
                        targets=[ast.Subscript(value=ast.Name(id=stored), slice=ast.Constant(value=key))], value=value
                    ) if stored == name:
                        yield Entry(key, owner, value)
            yield from self._registered.get((owner, name), ())

    def _file(self, module: Module, node: ast.expr) -> Module | None:
        """The file of the project whose names an expression stands for."""
        match node:
            case ast.Call(func=ast.Name(id="vars"), args=[inner]) | ast.Attribute(value=inner, attr="__dict__"):
                return self._file(module, inner)
        name = dotted(node)
        found = None if name is None else self._project.meaning(module, name)
        return found if isinstance(found, Module) else None

    def _defined(self, file: Module, seen: frozenset[Module]) -> Iterator[Entry]:
        """The classes and functions that a file defines or imports."""
        for name in file.bindings:
            found = self._project.definition(file, name)
            if found is not None and isinstance(found.binding, (Class, FunctionNode)):
                yield Entry(name, file, ast.Name(name, ast.Load()))
        for star in file.stars:
            other = self._project.resolve(star, file)
            if isinstance(other, Module) and other not in seen:
                yield from self._defined(other, seen | {file})

    @cached_property
    def _registered(self) -> Mapping[_Place, list[Entry]]:
        """What decorators put into registries."""
        found: dict[_Place, list[Entry]] = {}
        for module in self._files():
            for statement in flat(module.tree.body):
                if isinstance(statement, (ast.ClassDef, FunctionNode)):
                    for decorator in statement.decorator_list:
                        place = self._filled_by(module, decorator)
                        if place is not None:
                            entry = Entry(_key(decorator, statement.name), module, ast.Name(statement.name, ast.Load()))
                            found.setdefault(place, []).append(entry)
        return found

    def _filled_by(self, module: Module, decorator: ast.expr) -> _Place | None:
        """The registry that a decorator puts things into: `@register("a")`, `@MODELS.register()`."""
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        definition = self._definition(module, function)
        if definition is not None:
            nodes = ast.walk(definition.binding) if isinstance(definition.binding, FunctionNode) else ()
            for node in nodes:
                match node:
                    case ast.Assign(targets=[ast.Subscript(value=ast.Name() as table)]):
                        owner = self._definition(definition.module, table)
                        return None if owner is None else (owner.module, owner.name)
        elif isinstance(function, ast.Attribute):
            owner = self._definition(module, function.value)
            if owner is not None and isinstance(owner.binding, Assignment):
                return owner.module, owner.name
        return None

    def _definition(self, module: Module, node: ast.expr) -> Definition | None:
        """The definition at the top level of a file that an expression names."""
        name = dotted(node)
        return None if name is None else self._project.definition(module, name)


def entries_of(module: Module, node: ast.expr) -> Iterator[Entry]:
    """What a dictionary has, as it is written."""
    match node:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant):
                    yield Entry(key.value, module, value)
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            yield from (Entry(keyword.arg, module, keyword.value) for keyword in keywords if keyword.arg)


def look_up(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The registry and the key of `MODELS[key]`, `MODELS.get(key)` and `getattr(nets, key)`."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[table, key, *_]):
            return table, key
        case ast.Subscript(value=table, slice=key):
            return table, key
        case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, *_]):
            return table, key
    return None


def _key(decorator: ast.expr, name: str) -> object:
    """The name that a decorator gives something: its first string, or else what this is called."""
    given = [*decorator.args, *(k.value for k in decorator.keywords)] if isinstance(decorator, ast.Call) else []
    texts = (one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return next(texts, name)
