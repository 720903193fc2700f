"""Facts of scripts as plain data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from exportlint.analysis.domain.script_values import Model, Receiver
from exportlint.analysis.domain.trails import site_of
from exportlint.analysis.domain.values import Function, Value
from exportlint.analysis.facts.plain import ObjectOf, Plain, class_name
from exportlint.analysis.facts.targets import Default, FunctionTarget, ModelTarget, Parameter
from exportlint.syntax.definitions import FunctionNode, Module


class PlainScripts(Plain):
    """Makes facts of scripts plain: models, and functions that are exported, have no nodes then."""

    def _made(self, value: object) -> object:
        if isinstance(value, Model):
            return ModelTarget(value.name, None if value.definition is None else class_name(value.definition))
        if isinstance(value, Receiver):
            return ObjectOf(class_name(value.definition))
        if isinstance(value, Function):
            return _function(value)
        return super()._made(value)


def _function(function: Function) -> FunctionTarget:
    receiver = function.receiver
    return FunctionTarget(
        name=function.node.name if isinstance(function.node, FunctionNode) else "",
        definition=site_of(function.module, function.node),
        parameters=tuple(_parameters(function.module, function.node.args)),
        bound=receiver is not None or function.owner is not None,
        owner=None if function.owner is None else class_name(function.owner),
        receiver=_kind(receiver),
        calls=_called(function),
    )


def _kind(receiver: Value | None) -> Literal["model", "module", "object"] | None:
    if isinstance(receiver, Model):
        return "model"
    if isinstance(receiver, Receiver):
        return "module" if receiver.is_module else "object"
    return None


def _parameters(module: Module, arguments: ast.arguments) -> Iterator[Parameter]:
    every = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip(reversed(every), reversed(arguments.defaults), strict=False))
    for argument in every:
        yield Parameter(argument.arg, "positional", _default(module, defaults.get(argument)))
    if arguments.vararg is not None:
        yield Parameter(arguments.vararg.arg, "star")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(argument.arg, "keyword", _default(module, default))
    if arguments.kwarg is not None:
        yield Parameter(arguments.kwarg.arg, "double-star")


def _default(module: Module, node: ast.expr | None) -> Default | None:
    if node is None:
        return None
    return Default(ast.unparse(node), _is_constant(node), site_of(module, node))


def _is_constant(node: ast.expr) -> bool:
    """Whether an expression is the same wherever and whenever it is evaluated: `-1`, `(2, None)`."""
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant)


def _called(function: Function) -> frozenset[str]:
    """The attributes of the object that a method calls, or of which it calls a method: its modules, as a rule."""
    if function.owner is None:
        return frozenset()
    methods = function.owner.methods
    found: set[str] = set()
    seen = {function.node}
    waiting = [function.node]
    while waiting:
        for attribute in _roots(waiting.pop()):
            inner = methods.get(attribute)
            if inner is None:
                found.add(attribute)
            elif inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return frozenset({name for name in found if not name.startswith("_")} - {"forward", "training"})


def _roots(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        target = call.func if isinstance(call, ast.Call) else None
        while isinstance(target, ast.Attribute):
            if isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr
            target = target.value
