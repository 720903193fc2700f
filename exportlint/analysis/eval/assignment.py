"""Assignment to every kind of target."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.lattice import options, trail_of, with_trail
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import (
    TRUE,
    AttributesOf,
    Const,
    Dict,
    Object,
    Registry,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.eval.captured_variables import note_outer_write
from exportlint.analysis.eval.container_changes import stored, stored_slice
from exportlint.analysis.eval.declared_types import believed, declared_variable
from exportlint.analysis.eval.demands import unpack
from exportlint.analysis.eval.frame import Environment, Frame
from exportlint.analysis.eval.gradients import note_grad_flag
from exportlint.analysis.eval.heap_writes import (
    bind_attribute,
    bind_captured,
    bind_global,
    bind_registered,
    change_contents,
)
from exportlint.analysis.eval.parameters import INPUT
from exportlint.analysis.eval.state_access import DEFAULT
from exportlint.analysis.eval.subscripts import slice_bounds, store
from exportlint.analysis.facts import ContainerMutation, DataWrite


def assign(frame: Frame, target: ast.expr, value: Value, statement: ast.AST) -> None:
    """Bind what `target` names to a value."""
    if isinstance(target, ast.Name):
        _assign_name(frame, target, value, statement)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _assign_items(frame, target, value, statement)
    elif isinstance(target, ast.Starred):
        assign(frame, target.value, Sequence(value), statement)
    elif isinstance(target, ast.Attribute):
        _assign_attribute(frame, target, value, statement)
    elif isinstance(target, ast.Subscript):
        container = frame.evaluate(target.value)
        store(frame, target, container, value)
        if isinstance(container, AttributesOf):
            name = frame.peek(target.slice)
            if isinstance(name, Const) and isinstance(name.value, str):
                bind_attribute(frame, container.receiver, name.value, value, target, statement)
        if isinstance(container, Registry):
            name = frame.peek(target.slice)
            if isinstance(name, Const) and isinstance(name.value, str):
                bind_registered(frame, container.receiver, name.value, value, target, statement)
        note_container_mutation(frame, target.value, container, "[…] =", target)
        if not any(isinstance(option, Tensor) for option in options(container)):
            if isinstance(frame.receiver, Object) and isinstance(container, TorchModule):
                frame.receiver.instance.registered.append(value)
            index = frame.peek(target.slice)
            bounds = slice_bounds(frame, target.slice) if isinstance(target.slice, ast.Slice) else None

            def change(option: Value) -> Value:
                if isinstance(target.slice, ast.Slice):
                    return stored_slice(frame, option, bounds, value, target)
                return stored(option, index, value)

            change_contents(frame, target.value, container, change, target, value, statement, index)


def _assign_name(frame: Frame, target: ast.Name, value: Value, statement: ast.AST) -> None:
    value = believed(value, lambda: declared_variable(frame, frame.annotations.get(target.id), target.id))
    if is_followed(value):
        source, message = _explanation(target, statement)
        changes = not isinstance(source, ast.Name)
        value = with_trail(value, frame.trail(source, message, trail_of(value), changes=changes))
    if target.id in frame.nonlocals:
        note_outer_write(frame, target, "=", target)
        cell = frame.parent
        while cell is not None:
            if target.id in cell.variables:
                if cell.lasting and not frame.engine.constructing:
                    bind_captured(frame, target, value, statement)
                else:
                    cell.variables[target.id] = value
                return
            cell = cell.parent
    if target.id in frame.globals:
        bind_global(frame, target, value, statement)
        return
    forget(frame.env, target.id)
    frame.env[target.id] = value


def _explanation(target: ast.Name, statement: ast.AST) -> tuple[ast.AST, str]:
    """Which code says what a variable is bound to, and in which words."""
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.comprehension)):
        return statement.iter, f"`{target.id}` is an element of `{{}}`"
    if isinstance(statement, ast.AugAssign):
        return statement, f"`{target.id}` is changed by `{{}}`"
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and statement.value is not None:
        return _part(target, statement), f"`{target.id}` is `{{}}`"
    return statement, f"`{target.id}` is `{{}}`"


def _part(target: ast.Name, statement: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> ast.expr:
    """The expression that an assignment binds to a variable: `b` is `y` in `a, b = x, y`."""
    value = statement.value
    assert value is not None
    for bound in statement.targets if isinstance(statement, ast.Assign) else ():
        if (
            isinstance(bound, (ast.Tuple, ast.List))
            and isinstance(value, (ast.Tuple, ast.List))
            and target in bound.elts
            and len(bound.elts) == len(value.elts)
            and not any(isinstance(element, ast.Starred) for element in (*bound.elts, *value.elts))
        ):
            return value.elts[bound.elts.index(target)]
    return value


def is_followed(value: Value) -> bool:
    """Whether trails tell what a value is bound to: tensors, numbers read from them, what the host gave."""
    return any(isinstance(o, (Tensor, Scalar, Baked)) for o in options(value)) or is_list_of_numbers(value)


def is_list_of_numbers(value: Value) -> bool:
    """What `tolist` gives."""
    return isinstance(value, Sequence) and isinstance(value.item, Scalar)


def forget(env: Environment, name: str) -> None:
    """Drop what was known of a variable that is bound anew, and of its attributes."""
    env.pop(name + INPUT, None)
    env.pop(f"{name}.{DEFAULT}", None)
    prefix = name + "."
    if env.pop(prefix, None) is None:
        return
    for key in [k for k in env if k.startswith(prefix)]:
        del env[key]


def _assign_items(frame: Frame, target: ast.Tuple | ast.List, value: Value, statement: ast.AST) -> None:
    count = len(target.elts)
    star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
    if star is not None and isinstance(value, Tuple) and len(value.items) >= count - 1:
        after = len(value.items) - (count - 1 - star)
        items = value.items[:star], Tuple(value.items[star:after], mutable=True), value.items[after:]
        for element, item in zip(target.elts, (*items[0], items[1], *items[2]), strict=True):
            assign(frame, element.value if isinstance(element, ast.Starred) else element, item, statement)
        return
    if star is None and isinstance(statement, ast.Assign) and isinstance(value, Shape):
        _note_rank(frame, statement.value, value, count)
    # A `for` of a comprehension has no place in the text.
    place = target if isinstance(statement, ast.comprehension) else statement
    for element, item in zip(target.elts, unpack(frame, value, count, place), strict=True):
        assign(frame, element, item, statement)


def _note_rank(frame: Frame, expression: ast.expr, shape: Shape, rank: int) -> None:
    """After `b, t = x.shape` it is known how many dimensions `x` has."""
    asks = expression.func if isinstance(expression, ast.Call) and not expression.args else expression
    owner = asks.value if isinstance(asks, ast.Attribute) and asks.attr in {"shape", "size"} else None
    held = frame.env.get(owner.id) if isinstance(owner, ast.Name) else None
    if isinstance(owner, ast.Name) and isinstance(held, Tensor) and held == shape.tensor and held.shape.rank is None:
        frame.env[owner.id] = held.but(shape=TensorShape(held.shape.dims, rank))


def _assign_attribute(frame: Frame, target: ast.Attribute, value: Value, statement: ast.AST) -> None:
    receiver = frame.evaluate(target.value)
    if target.attr == "requires_grad":
        frame.engine.effects.switches_gradients = True
    if isinstance(receiver, Object):
        known = frame.stored(receiver.instance, target.attr)
        if not isinstance(value, Const) or known != value:
            note_outer_write(frame, target, "=", target)
    if isinstance(receiver, Tensor) and target.attr == "requires_grad" and not receiver.assumed:
        note_grad_flag(frame, receiver, "requires_grad =", value, target)
    if isinstance(receiver, Tensor) and target.attr == "data":
        frame.emit(DataWrite, target, receiver, target=receiver, assigned=value)
    bind_attribute(frame, receiver, target.attr, value, target, statement)
    if any(isinstance(option, Object) for option in options(receiver)):
        for key in [key for key in frame.env if key.partition(".")[2] == target.attr]:
            del frame.env[key]
    elif isinstance(target.value, ast.Name):
        name = target.value.id
        frame.env[name + "."] = TRUE  # it has attributes here: else nothing has to be searched when it is bound anew
        frame.env[f"{name}.{target.attr}"] = value


def note_container_mutation(frame: Frame, node: ast.expr, container: Value, api: str, site: ast.AST) -> None:
    """Record that an element of a container is set or deleted."""
    if isinstance(container, (Dict, Sequence, Tuple)):
        note_outer_write(frame, node, api, site)
    if not isinstance(node, ast.Name) or not isinstance(container, (Dict, Sequence, Tuple)):
        return
    note_input_mutation(frame, node, api, site)


def note_input_mutation(frame: Frame, node: ast.Name, api: str, site: ast.AST) -> None:
    """Record that a container is changed that the caller of `forward` passed, where a variable holds one."""
    held = frame.env.get(node.id + INPUT)
    if isinstance(held, Const):
        frame.emit(ContainerMutation, site, None, api=api, name=held.value, in_forward=frame.is_root)
