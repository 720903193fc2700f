"""Fields of classes that have no constructor as such: dataclasses and named tuples."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.values import (
    FALSE,
    External,
    Instance,
    Object,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.classes import bound, class_attribute, lineage
from exportlint.analysis.eval.frame import Frame
from exportlint.syntax.definitions import Class

FIELDS = frozenset({"dataclasses.field", "attr.ib", "attr.field", "attrs.field"})

DATACLASSES = frozenset({
    "dataclasses.dataclass", "attr.s", "attr.attrs", "attr.define", "attr.frozen", "attr.mutable", "attr.dataclass",
    "attrs.define", "attrs.frozen", "attrs.mutable",
})  # fmt: skip
"""Class decorators that generate a constructor."""


def is_generated(frame: Frame, cls: Class, written: Class) -> bool:
    """Whether a decorator generates a constructor in front of the one that is written in `written`, a base."""
    order = lineage(frame, cls)
    derived = order[: order.index(written)] if written in order else ()
    return any(_generates(frame, owner) for owner in derived)


def _generates(frame: Frame, cls: Class) -> bool:
    inner = Frame(frame.engine, cls.module)
    for decorator in cls.node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        callee = inner.peek(call.func if call is not None else decorator)
        option = next((k.value for k in call.keywords if k.arg == "init"), None) if call is not None else None
        if isinstance(callee, External) and callee.name in DATACLASSES:
            return option is None or inner.peek(option) != FALSE
    return False


def fill_fields(frame: Frame, instance: Instance, arguments: Arguments, node: ast.AST) -> None:
    """Do what a generated constructor does: arguments, then defaults, then `__post_init__`."""
    cls = instance.definition
    owners = {name: owner for owner in reversed(lineage(frame, cls)) for name in owner.annotations}
    taken = [name for name, owner in owners.items() if _option(frame, owner, name, "init") != FALSE]
    given = {**dict(zip(taken, arguments.positional, strict=False)), **arguments.keywords}
    for name, owner in owners.items():
        value = given.get(name) or _default(frame, owner, name, node)
        if value is not None:
            frame.store_cell(Cell(instance, name), value, instance.attributes.get(name))
    for name, value in given.items():
        if name not in owners:
            frame.store_cell(Cell(instance, name), value, instance.attributes.get(name))
    finish = bound(frame, Object(instance), cls, "__post_init__", node)
    if finish is not None:
        frame.call(finish, Arguments(), node)


def _call_of_field(frame: Frame, owner: Class, name: str) -> ast.Call | None:
    node = owner.attributes.get(name)
    if not isinstance(node, ast.Call):
        return None
    callee = Frame(frame.engine, owner.module).peek(node.func)
    return node if isinstance(callee, External) and callee.name in FIELDS else None


def _option(frame: Frame, owner: Class, name: str, option: str) -> Value | None:
    """An argument of `field(…)`."""
    call = _call_of_field(frame, owner, name)
    node = next((k.value for k in call.keywords if k.arg == option), None) if call is not None else None
    return None if node is None else Frame(frame.engine, owner.module).peek(node)


def _default(frame: Frame, owner: Class, name: str, node: ast.AST) -> Value | None:
    if _call_of_field(frame, owner, name) is None:
        return None if owner.attributes.get(name) is None else class_attribute(frame, owner, name)
    factory = _option(frame, owner, name, "default_factory") or _option(frame, owner, name, "factory")
    if factory is not None:
        name = factory.name.rpartition(".")[2] if isinstance(factory, External) else owner.node.name
        call = ast.Call(ast.Name(name, ast.Load()), [], [])
        return frame.call(factory, Arguments(), ast.fix_missing_locations(ast.copy_location(call, node)))
    return _option(frame, owner, name, "default")
