"""Attributes that no constructor binds: code reads them by `getattr` with a default until a call has bound them."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Const, External, Object
from exportlint.analysis.eval.classes import bases, find_method, lineage, member
from exportlint.analysis.eval.frame import Frame
from exportlint.syntax.definitions import FunctionNode
from exportlint.syntax.walk import once_a_node, walk

_PLAIN_BASES = frozenset({"torch.nn.Module", "builtins.object"})


def begins_as(frame: Frame, value: Object, name: str, default: Const) -> bool:
    """Whether `getattr(self, "_depth", 0)` surely gives the default, as no call has bound the attribute yet.

    It is a private number, and only methods that ask for it in this way bind it.
    """
    instance = value.instance
    if type(default.value) is not int or not name.startswith("_") or instance.promised or instance.computed:
        return False
    if frame.stored(instance, name) is not None or member(frame, instance.definition, name) is not None:
        return False
    if find_method(frame, instance.definition, "__getattr__") is not None:
        return False
    owners = lineage(frame, instance.definition)
    known = all(
        not isinstance(base, External) or base.name in _PLAIN_BASES for cls in owners for base in bases(frame, cls)
    )
    return (
        known
        and any(name in _asked(cls.node) for cls in owners)
        and not any(name in _bound_otherwise(cls.node) for cls in owners)
    )


def getattr_default(node: ast.AST) -> Const | None:
    """The default of a call of `getattr`, if it is a number."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "getattr":
        return None
    default = node.args[2] if len(node.args) == 3 else None
    return Const(default.value) if isinstance(default, ast.Constant) and type(default.value) is int else None


def _names_asked(function: ast.AST) -> set[str]:
    return {
        child.args[1].value
        for child in walk(function)
        if getattr_default(child) is not None
        and isinstance(child, ast.Call)
        and isinstance(child.args[1], ast.Constant)
        and isinstance(child.args[1].value, str)
    }


@once_a_node
def _asked(cls: ast.AST) -> frozenset[str]:
    """The attributes that methods of a class ask for by `getattr` with a number as the default."""
    return frozenset(_names_asked(cls))


@once_a_node
def _bound_otherwise(cls: ast.ClassDef) -> frozenset[str]:
    """The attributes that methods bind which do not ask for them in this way."""
    found: set[str] = set()
    for method in cls.body:
        if isinstance(method, FunctionNode):
            bound = {n.attr for n in walk(method) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
            found |= bound - _names_asked(method)
    return frozenset(found)
