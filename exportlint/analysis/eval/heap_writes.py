"""What is bound or changed beyond the variables of a call: attributes, globals, containers that they hold."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from exportlint.analysis.domain.accesses import entry_key
from exportlint.analysis.domain.allocations import identified
from exportlint.analysis.domain.heap import UNTRACKED, Allocation, Cell
from exportlint.analysis.domain.lattice import each, join, merged, options
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import (
    NONE,
    ClassValue,
    Closure,
    Const,
    Dict,
    Function,
    Instance,
    Object,
    Origin,
    Sequence,
    Tensor,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.eval.classes import class_attribute
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.names import global_value
from exportlint.analysis.eval.narrowing import path
from exportlint.analysis.eval.state_access import (
    attribute_cell,
    captured_cell,
    cell_of,
    is_global,
    layer_cell,
    mark_written,
    note_write,
)
from exportlint.analysis.facts import Call

SET_ATTRIBUTE = "types.FunctionType.__setattr__"

Change = Callable[[Value], Value | None]
"""What a container is after it was changed; None if that is not known."""


def bind_attribute(frame: Frame, receiver: Value, name: str, value: Value, node: ast.AST, source: ast.AST) -> None:
    """`receiver.name = value` at `node`; `source` is the statement or call that says so."""
    if isinstance(receiver, Union):

        def bind(option: Value) -> Value:
            bind_attribute(frame, option, name, value, node, source)
            return value

        frame.each(receiver, bind)
        return
    before = frame.stored(receiver.instance, name) if isinstance(receiver, Object) else None
    if isinstance(source, ast.AugAssign) and isinstance(value, Tensor) and value.origin is not Origin.FRESH:
        return  # `self.total += x` changes the tensor that is there
    is_made = isinstance(getattr(source, "value", None), ast.Call) and _is_buffer(value)
    is_buffer = isinstance(receiver, Object) and (is_made or name in receiver.instance.buffers)
    attribute = attribute_cell(receiver, name) or layer_cell(frame, receiver, node)
    note_write(frame, attribute, node, value, before, source, "buffer" if is_buffer else "binding")
    if isinstance(receiver, Function) and attribute is not None and frame.engine.is_tracing:
        frame.emit(Call, node, None, name=SET_ATTRIBUTE, positional=(), keywords=())
    if isinstance(receiver, ClassValue):
        frame.store_cell(Cell(receiver.definition, name), value, class_attribute(frame, receiver.definition, name))
    if isinstance(receiver, Object):
        _keep(frame, receiver.instance, name, value)
        if frame.engine.constructing and not receiver.instance.promised:
            receiver.instance.places.setdefault(name, frame.trail(node, f"`{{}}` is assigned in `{frame.symbol}`"))


def bind_registered(frame: Frame, receiver: Object, name: str, value: Value, node: ast.AST, source: ast.AST) -> None:
    """`receiver._buffers[name] = value`, past what `nn.Module` does when an attribute is assigned."""
    before = frame.stored(receiver.instance, name)
    note_write(frame, attribute_cell(receiver, name), node, value, before, source, "binding")
    _keep(frame, receiver.instance, name, value)


def _keep(frame: Frame, instance: Instance, name: str, value: Value) -> None:
    """Let an attribute hold a value on the way at hand."""
    cell = Cell(instance, name)
    if isinstance(value, Tensor) and _is_buffer(value) and frame.engine.constructing:
        value = replace(value, buffer=cell)
        if not instance.promised:
            instance.buffers.add(name)
    frame.store_cell(cell, value, instance.attributes.get(name))


def _is_buffer(value: Value) -> bool:
    return isinstance(value, Tensor) and value.origin is Origin.BUFFER


def register_buffer(frame: Frame, instance: Instance, name: str, value: Value, node: ast.AST) -> None:
    """`instance.register_buffer(name, value)`."""
    note_write(frame, attribute_cell(Object(instance), name), node, value, frame.stored(instance, name), node, "buffer")
    instance.buffers.add(name)
    cell = Cell(instance, name)
    buffer = Tensor(Origin.BUFFER, buffer=cell)
    if isinstance(value, Tensor):
        shape = TensorShape((), value.shape.rank)
        buffer = replace(buffer, kind=value.kind, dtype=value.dtype, shape=shape)
    frame.store_cell(cell, value if value == NONE else buffer, instance.attributes.get(name))


def bind_global(frame: Frame, target: ast.Name, value: Value, source: ast.AST) -> None:
    """`name = value` after `global name`."""
    before = global_value(frame, frame.module, target.id)
    note_write(frame, Cell(frame.module, target.id), target, value, before, source, "binding")
    frame.store_cell(Cell(frame.module, target.id), value, before)


def bind_captured(frame: Frame, target: ast.Name, value: Value, source: ast.AST) -> None:
    """`name = value` after `nonlocal name`, in a function that a constructor has made."""
    cell = captured_cell(frame, target.id)
    if cell is not None and isinstance(cell.owner, Closure):
        before = cell.owner.variables[target.id]
        note_write(frame, cell, target, value, before, source, "binding")
        frame.store_cell(cell, value, before)


def change_contents(
    frame: Frame, owner: ast.expr, container: Value, change: Change, node: ast.AST,
    value: Value, source: ast.AST, index: Value | None = None,
) -> None:  # fmt: skip
    """The container that `owner` names is changed at `node`: it gets `value`, under `index` if it has one.

    `change` gives what each option of it is then, None if that is not known.
    """
    if not any(isinstance(option, (Dict, Tuple, Sequence)) for option in options(container)):
        return
    cell = cell_of(frame, owner)
    note_write(frame, cell, node, value, container, source, "contents")
    if cell is not None and isinstance(index, Const) and not isinstance(owner, ast.Subscript):
        mark_written(frame, cell, entry_key(index.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "clear":
        mark_written(frame, cell)
    frame.each(container, lambda option: _changed(frame, owner, option, change))


def _changed(frame: Frame, owner: ast.expr, container: Value, change: Change) -> Value:
    key = path(owner)
    held = frame.current(frame.env[key]) if key in frame.env else None
    now = changed = write_contents(frame, container, change)
    if changed is container:
        return container
    if isinstance(held, Union):  # None has no contents, so it is not that
        now = join([now, *[o for o in held.options if o != container and not isinstance(o, Const)]])
    _rebind(frame, owner, now)
    return changed


def write_contents(frame: Frame, container: Value, change: Change) -> Value:
    """Change what a list, dictionary or set contains, for all that refer to it. Gives it as it is then."""
    found = container.identity
    changed = change(container) or container
    if len(found) == 1:
        (allocation,) = found
        if allocation not in UNTRACKED and not (changed is container and allocation.cell in frame.heap.changes):
            frame.store_cell(allocation.cell, identified(changed, found), container)
    else:
        for allocation in found - UNTRACKED:
            _write_perhaps(frame, allocation, container, change)
    return identified(changed, found)


def _write_perhaps(frame: Frame, allocation: Allocation, container: Value, change: Change) -> None:
    """Change what an allocation contains if it is the one that is changed. `container` is one of several."""
    own = frozenset((allocation,))
    known = frame.heap.get(allocation.cell)
    held = known or identified(container, own)
    changed = each(held, lambda option: change(option) or option)
    if changed is not known:
        either = merged(options(join((held, changed))))  # lists that are one of several are not told apart by length
        frame.store_cell(allocation.cell, identified(either, own), identified(container, own))


def _rebind(frame: Frame, owner: ast.expr, changed: Value) -> None:
    key = path(owner)
    if changed.identity and key not in frame.env:
        return
    if isinstance(owner, ast.Name) and is_global(frame, owner.id):
        frame.store_cell(Cell(frame.module, owner.id), changed, global_value(frame, frame.module, owner.id))
    elif key is not None:
        frame.env[key] = changed
        if changed.identity:
            return
        receiver = frame.peek(owner.value) if isinstance(owner, ast.Attribute) else None
        instance = receiver.instance if isinstance(receiver, Object) else None
        if isinstance(owner, ast.Attribute) and instance is not None and frame.stored(instance, owner.attr) is not None:
            _keep(frame, instance, owner.attr, changed)
