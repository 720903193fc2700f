"""Facts as plain data: what of values, trails and definitions rules look at, which can be kept and sent elsewhere."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeVar

from exportlint.analysis.domain.trails import Route, Site, Trail, site_of
from exportlint.analysis.domain.values import (
    ClassValue,
    Closure,
    External,
    Function,
    Instance,
    Namespace,
    Object,
    Value,
)
from exportlint.analysis.facts import Fact
from exportlint.syntax.definitions import Class, Module
from exportlint.syntax.walk import walk

F = TypeVar("F", bound=Fact)


@dataclass(frozen=True, slots=True)
class ClassName(Value):
    """A class of the project: its name in its file, and where it is."""

    name: str
    definition: Site


@dataclass(frozen=True, slots=True)
class ObjectOf(Value):
    """An object of a class of the project."""

    type: ClassName


@dataclass(frozen=True, slots=True)
class FunctionName(Value):
    """A function of the project: its name in its file, and where it is. `returns`: a value, and not just None."""

    name: str
    definition: Site
    returns: bool


INTERNAL: dict[str, object] = {"trail": None, "created_at": None, "buffer": None, "joined": frozenset()}
"""Fields of values that only the interpreter asks for, and what they become."""


class Plain:
    """Makes facts plain. What facts share, such as steps of trails, is shared by what is made of them."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, object]] = {}

    def fact(self, fact: F) -> F:
        """A fact without nodes, modules, objects and functions of the interpreter."""
        made = self._made(fact)
        assert isinstance(made, type(fact))
        return made

    def _of(self, value: object) -> object:
        if value is None or isinstance(value, (str, int, float, Site)):
            return value
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = value, self._made(value)  # the value is kept, so that its id is
        return known[1]

    def _made(self, value: object) -> object:
        if isinstance(value, Trail):
            return Route.of(value)
        if isinstance(value, Function):
            return FunctionName(value.symbol, site_of(value.module, value.node), _returns(value.node))
        if isinstance(value, Object):
            return ObjectOf(class_name(value.instance.definition))
        if isinstance(value, ClassValue):
            return class_name(value.definition)
        if isinstance(value, Class):
            return class_name(value)
        if isinstance(value, Namespace):
            return External(value.module.name)
        if isinstance(value, (tuple, frozenset)):
            parts = [self._of(part) for part in value]
            is_same = isinstance(value, tuple) and all(one is other for one, other in zip(parts, value, strict=True))
            return value if is_same else type(value)(parts)
        if is_dataclass(value) and not isinstance(value, type):
            return self._with_plain_fields(value)
        assert not isinstance(value, (ast.AST, Module, Class, Instance, Closure)), value
        return value

    def _with_plain_fields(self, value: object) -> object:
        changed: dict[str, object] = {}
        kind: type = type(value)
        for name, is_internal in _fields(kind):
            known = getattr(value, name)
            if known is None or type(known) in _PLAIN:
                continue
            found = INTERNAL[name] if is_internal else self._of(known)
            if found is not known:
                changed[name] = found
        return replace(value, **changed) if changed else value  # type: ignore[type-var]


_PLAIN = frozenset({str, int, bool, float, Site})


@functools.cache
def _fields(kind: type) -> tuple[tuple[str, bool], ...]:
    """The fields of a dataclass that its constructor takes, and whether only the interpreter asks for them."""
    is_value = issubclass(kind, Value)
    return tuple((name, is_value and name in INTERNAL) for name in made_with(kind))


@functools.cache
def made_with(kind: type) -> tuple[str, ...]:
    """The fields that the constructor of a dataclass takes; none of another type."""
    return tuple(one.name for one in fields(kind) if one.init) if is_dataclass(kind) else ()


def class_name(cls: Class) -> ClassName:
    """A class as plain data."""
    return ClassName(cls.qualname, site_of(cls.module, cls.node))


def _returns(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    if isinstance(node, ast.Lambda):
        return not (isinstance(node.body, ast.Constant) and node.body.value is None)
    return any(isinstance(n, ast.Return) and n.value is not None for s in node.body for n in walk(s))
