"""What is bound or changed beyond the variables of a call: attributes, globals, containers that they hold."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.allocations import identified, merged_identity
from exportlint.analysis.domain.heap import ELSEWHERE, Cell
from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.shape import SCALAR, UNSHAPED
from exportlint.analysis.domain.values import (
    NONE,
    ClassValue,
    Const,
    Dict,
    Instance,
    Object,
    Origin,
    Sequence,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.classes import class_attribute
from exportlint.analysis.eval.demands import doubtful
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.names import global_value
from exportlint.analysis.eval.narrowing import path
from exportlint.analysis.eval.state_access import (
    attribute_cell,
    cell_of,
    entry_cell,
    is_global,
    mark_written,
    note_write,
)


def bind_attribute(frame: Frame, receiver: Value, name: str, value: Value, node: ast.AST, source: ast.AST) -> None:
    """`receiver.name = value` at `node`; `source` is the statement or call that says so."""
    before = frame.stored(receiver.instance, name) if isinstance(receiver, Object) else None
    if isinstance(source, ast.AugAssign) and isinstance(value, Tensor) and value.origin is not Origin.FRESH:
        return  # `self.total += x` changes the tensor that is there
    is_made = isinstance(getattr(source, "value", None), ast.Call) and _is_buffer(value)
    is_buffer = isinstance(receiver, Object) and (is_made or name in receiver.instance.buffers)
    note_write(frame, attribute_cell(receiver, name), node, value, before, source, "buffer" if is_buffer else "binding")
    if isinstance(receiver, ClassValue):
        frame.store_cell(Cell(receiver.definition, name), value, class_attribute(frame, receiver.definition, name))
    if isinstance(receiver, Object):
        _keep(frame, receiver.instance, name, value)
        if frame.engine.constructing and not receiver.instance.promised:
            receiver.instance.places.setdefault(name, frame.trail(node, f"`{{}}` is assigned in `{frame.symbol}`"))


def _keep(frame: Frame, instance: Instance, name: str, value: Value) -> None:
    """Let an attribute hold a value on the way at hand."""
    frame.store_cell(Cell(instance, name), value, instance.attributes.get(name))
    if _is_buffer(value) and frame.engine.constructing and not instance.promised:
        instance.buffers.add(name)


def _is_buffer(value: Value) -> bool:
    return isinstance(value, Tensor) and value.origin is Origin.BUFFER


def register_buffer(frame: Frame, instance: Instance, name: str, value: Value, node: ast.AST) -> None:
    """`instance.register_buffer(name, value)`."""
    note_write(frame, attribute_cell(Object(instance), name), node, value, frame.stored(instance, name), node, "buffer")
    instance.buffers.add(name)
    buffer = (
        Tensor(Origin.BUFFER, value.kind, shape=SCALAR if value.zero_dim else UNSHAPED)
        if isinstance(value, Tensor)
        else Tensor(Origin.BUFFER)
    )
    frame.store_cell(Cell(instance, name), value if value == NONE else buffer, instance.attributes.get(name))


def bind_global(frame: Frame, target: ast.Name, value: Value, source: ast.AST) -> None:
    """`name = value` after `global name`."""
    before = global_value(frame, frame.module, target.id)
    note_write(frame, Cell(frame.module, target.id), target, value, before, source, "binding")
    frame.store_cell(Cell(frame.module, target.id), value, before)


def change_contents(
    frame: Frame, owner: ast.expr, container: Value, changed: Value | None, node: ast.AST, value: Value,
    source: ast.AST, index: Value | None = None,
) -> None:  # fmt: skip
    """The container that `owner` names is changed at `node`: it gets `value`, under `index` if it has one.

    `changed` is what it is then, None if that is not known.
    """
    if not any(isinstance(option, (Dict, Tuple, Sequence)) for option in options(container)):
        return
    cell = cell_of(frame, owner)
    note_write(frame, cell, node, value, container, source, "contents")
    if cell is not None and isinstance(index, Const) and not isinstance(owner, ast.Subscript):
        mark_written(frame, entry_cell(cell, index.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "clear":
        mark_written(frame, cell)
    if changed is not None:
        write_contents(frame, container, changed)
        _rebind(frame, owner, identified(changed, container.identity) if container.identity else changed)


def write_contents(frame: Frame, container: Value, changed: Value) -> None:
    """Let a container hold what `changed` does, for all that refer to it. `container` is as it was before."""
    found = merged_identity(o for o in options(container) if isinstance(o, (Dict, Tuple, Sequence)))
    if len(found) == 1:
        (allocation,) = found
        if allocation is not ELSEWHERE:
            frame.store_cell(allocation.cell, identified(changed, found), container)
        return
    for allocation in found - {ELSEWHERE}:
        own = frozenset((allocation,))
        held = frame.heap.get(allocation.cell) or container
        now = doubtful(changed) if ELSEWHERE in found else changed
        frame.store_cell(allocation.cell, identified(join((held, now)), own), identified(container, own))


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
