"""What strict mode does not put in an order: what holds something that is not a constant."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Sequence as Values

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    NONE,
    ClassValue,
    Dict,
    External,
    Function,
    Object,
    Scalar,
    Sequence,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.classes import bases, lineage
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.tracing import UntracedOrder
from exportlint.analysis.torch import table
from exportlint.syntax.walk import once_a_node, walk

PLAIN_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
"""Classes outside of the project whose objects are nothing else besides."""


def note_sorted_rows(frame: Frame, value: Value, arguments: Arguments, node: ast.AST, api: str) -> None:
    """Record that rows are sorted, as in `sorted(found.items())`, of which one surely holds a tensor or a module."""
    if frame.engine.mode == "strict" and arguments.keywords.get("key", NONE) == NONE:
        held = next((part for part in _parts(frame, value, node) if _is_held(part)), None)
        if held is not None:
            frame.emit(UntracedOrder, node, held, api=api, of="rows")
            return
        _note_objects(frame, _rows(value), node, api)


def note_choice(frame: Frame, positional: Values[Value], key: Value | None, node: ast.Call, api: str) -> None:
    """Record that `max()` or `min()` chooses among objects, or by a key where that takes more than constants.

    TorchDynamo evaluates a choice by a key only among constants, by a function that holds nothing else (2.13).
    """
    if frame.engine.mode != "strict":
        return
    if key is None or key == NONE:
        values = _several(positional)
        if values:
            _note_objects(frame, values, node, api)
    elif (
        any(_is_traced(frame, value) for value in positional)
        or any(isinstance(argument, ast.GeneratorExp) for argument in node.args)
        or (isinstance(key, Function) and _holds_traced(frame, key))
    ):
        frame.emit(UntracedOrder, node, None, api=api, of="key")


def _several(positional: Values[Value]) -> Values[Value]:
    """What is compared, if it is surely more than one value."""
    if len(positional) > 1:
        return positional
    value = positional[0] if positional else NONE
    return value.items if isinstance(value, Tuple) and len(value.items) > 1 else ()


def _note_objects(frame: Frame, values: Iterable[Value], node: ast.AST, api: str) -> None:
    found = next((v for v in values if all(_is_plain_object(frame, option) for option in options(v))), None)
    if found is not None:
        frame.emit(UntracedOrder, node, found, api=api, of="objects")


def _is_traced(frame: Frame, value: Value) -> bool:
    """Whether a value surely is, or has as an item, what is no constant to TorchDynamo."""
    match value:
        case Tuple():
            return value.lazy is not None or any(_is_traced(frame, item) for item in value.items)
        case Sequence():
            return value.type == "generator" or _is_traced(frame, value.item)
        case Dict():
            return any(_is_traced(frame, item) for _, item in value.entries)
        case Union():
            return all(_is_traced(frame, option) for option in value.options)
        case Size():
            return value.dim.varies
        case Object():
            return _is_plain_object(frame, value)
    return isinstance(value, (Tensor, Scalar, TorchModule))


def _holds_traced(frame: Frame, function: Function) -> bool:
    """Whether a function is bound to an object, or names a variable around it that holds no constant."""
    if function.receiver is not None:
        return True
    names, cell = set(_names_in(function.node)), function.closure
    while cell is not None:
        if any(_is_traced(frame, frame.current(cell.variables[name])) for name in names & cell.variables.keys()):
            return True
        names -= cell.variables.keys()
        cell = cell.parent
    return False


@once_a_node
def _names_in(node: ast.AST) -> frozenset[str]:
    return frozenset(child.id for child in walk(node) if isinstance(child, ast.Name))


def _is_plain_object(frame: Frame, value: Value) -> bool:
    """Whether a value is an object of the project that is no number, text, tuple or the like by inheritance."""
    if not isinstance(value, Object):
        return False
    found = (base for cls in lineage(frame, value.instance.definition) for base in bases(frame, cls))
    outside = (base for base in found if not isinstance(base, ClassValue))
    return all(isinstance(base, External) and _is_plain_base(base.name) for base in outside)


def _is_plain_base(name: str) -> bool:
    api = table.lookup(name)
    return name in PLAIN_BASES or (api is not None and api.kind == "module")


def _parts(frame: Frame, value: Value, node: ast.AST) -> tuple[Value, ...]:
    """What the rows hold: each surely stands in one of them."""
    pairs = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if isinstance(pairs, ast.Call) and isinstance(pairs.func, ast.Attribute) and pairs.func.attr == "items":
        found = frame.peek(pairs.func.value)
        if isinstance(found, Dict):
            return tuple(entry for _, entry in found.entries)
    return tuple(part for row in _rows(value) if isinstance(row, Tuple) for part in row.items)


def _rows(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()


def _is_held(part: Value) -> bool:
    return all(
        isinstance(option, (Object, TorchModule)) or (isinstance(option, Tensor) and not option.assumed)
        for option in options(part)
    )
