"""Records who reads and who writes the state that outlives the call that is exported."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.accesses import Kind, Write
from exportlint.analysis.domain.allocations import is_mutable
from exportlint.analysis.domain.heap import NO_KEYS, Cell
from exportlint.analysis.domain.lattice import options, tensors_in
from exportlint.analysis.domain.values import (
    TRUE,
    ClassValue,
    Function,
    Instance,
    Object,
    Origin,
    Scalar,
    Tensor,
    TorchModule,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.frame import Environment, Frame
from exportlint.analysis.eval.tensor_results import is_computed_from_input
from exportlint.analysis.facts import written_at
from exportlint.syntax.definitions import Assignment, unindexed
from exportlint.syntax.walk import children, once_a_node, walk

DEFAULT = "<default>"
"""Key of what a parameter is called whose default, a list or dict, was taken: `name.<default>` in its environment."""

MAKERS = frozenset({"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter"})
METADATA = frozenset({"shape", "device", "dtype", "ndim", "size", "dim", "numel", "is_cuda"})


def is_container(node: ast.expr) -> bool:
    """Whether an expression makes a new list, dict or set."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in MAKERS
    return isinstance(node, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))


def attribute_cell(receiver: Value | None, name: str) -> Cell | None:
    """The attribute of something that outlives the call."""
    if isinstance(receiver, Object):
        return Cell(receiver.instance, name) if receiver.instance.lasting else None
    if isinstance(receiver, ClassValue):
        return Cell(receiver.definition, name)
    if isinstance(receiver, Function) and receiver.closure is None:
        return Cell(receiver.node, name)
    if isinstance(receiver, Function) and receiver.closure is not None and receiver.closure.lasting:
        return Cell(receiver.closure, f"{receiver.symbol}.{name}")
    return None


def layer_cell(frame: Frame, receiver: Value | None, node: ast.AST) -> Cell | None:
    """An attribute that code sets on a module of torch which another module holds: `self.linear.calls`."""
    if not isinstance(receiver, TorchModule) or not isinstance(node, ast.Attribute):
        return None
    held = cell_of(frame, node.value) if isinstance(node.value, ast.Attribute) else None
    return Cell(held.owner, f"{held.name}.{node.attr}") if held is not None else None


def cell_of(frame: Frame, node: ast.expr) -> Cell | None:
    """The state that an expression names."""
    if isinstance(node, ast.Subscript):
        return cell_of(frame, node.value)
    if isinstance(node, ast.Attribute):
        return attribute_cell(frame.peek(node.value), node.attr)
    if isinstance(node, ast.Name):
        if f"{node.id}.{DEFAULT}" in frame.env and frame.engine.active:
            return Cell(frame.engine.active[-1], node.id)
        if is_global(frame, node.id):
            return Cell(frame.module, node.id)
        captured = captured_cell(frame, node.id)
        if captured is not None:
            return captured
        source = _only_source(frame, node.id)
        return cell_of(frame, source) if isinstance(source, ast.Attribute) else None
    return None


def captured_cell(frame: Frame, name: str) -> Cell | None:
    """The variable of a function around this one that was left before export began."""
    if name in frame.env:
        return None
    closure = frame.parent
    while closure is not None and name not in closure.variables:
        closure = closure.parent
    return Cell(closure, name) if closure is not None and closure.lasting else None


def method_owner(frame: Frame, callee: ast.expr, name: str) -> ast.expr | None:
    """What names the value whose method is called, as `found` in `found.append` or `push = found.append`."""
    source = _only_source(frame, callee.id) if isinstance(callee, ast.Name) else callee
    return source.value if isinstance(source, ast.Attribute) and source.attr == name else None


def _only_source(frame: Frame, name: str) -> ast.expr | None:
    """What the one assignment to a variable in a function assigns: `history = self.history`."""
    engine = frame.engine
    if not engine.active:
        return None
    return _sources(engine.active[-1]).get(name)


@once_a_node
def _sources(function: ast.AST) -> dict[str, ast.expr | None]:
    """What a function assigns to its variables; None where it does so more than once."""
    found: dict[str, ast.expr | None] = {}
    for child in walk(function):
        if isinstance(child, ast.Assign):
            for target in child.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = child.value if target.id not in found else None
    return found


def is_global(frame: Frame, name: str) -> bool:
    """Whether a name stands for a variable of the module."""
    if name in frame.env or not isinstance(frame.module.bindings.get(name), Assignment):
        return False
    cell = frame.parent
    while cell is not None:
        if name in cell.variables:
            return False
        cell = cell.parent
    return True


def note_read(frame: Frame, cell: Cell | None, node: ast.AST) -> None:
    """Record that state is read."""
    engine = frame.engine
    if cell is not None and engine.is_tracing and engine.active:
        engine.effects.read(cell, node, engine.active[-1], frame.heap.written.get(cell, NO_KEYS))


def note_attribute_read(frame: Frame, receiver: Value | None, name: str, node: ast.AST) -> None:
    """Record that an attribute is read; that of a class, too, where the object has none of its own."""
    if not frame.engine.is_tracing:
        return
    note_read(frame, attribute_cell(receiver, name) or layer_cell(frame, receiver, node), node)
    if isinstance(receiver, Object) and frame.stored(receiver.instance, name) is None:
        definition = receiver.instance.definition
        if name in definition.attributes:
            note_read(frame, Cell(definition, name), node)


STORED = "[…] ="
RESULT, ACCUMULATED = "out=", "+out="
"""`torch.add(x, y, out=out)`, `torch.add(out, y, out=out)`."""
REPLACING = frozenset({RESULT, "copy_", "fill_", "zero_", "normal_", "uniform_"})
"""Operators that write all elements, whatever was there before."""
_LITERAL_INDEX = (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp)


def note_write(
    frame: Frame, cell: Cell | None, node: ast.AST, value: Value, before: Value | None, source: ast.AST, kind: Kind
) -> None:
    """Record that state is written; `source` is the statement or call that the value comes from."""
    engine = frame.engine
    if cell is None or not engine.is_tracing or not engine.active:
        return
    depends_on_input = _holds_data(value) or _mentions_data(frame, value, source)
    at_root = cell.owner is engine.root
    guarded = frame.guards > 0
    function = engine.active[-1]
    engine.effects.write(
        Write(cell, kind, node, function, frame.module, frame.symbol, guarded, value, before, depends_on_input, at_root)
    )
    place = written_at(frame.site(node))
    engine.calls.meet(place)
    if engine.probe is not None:
        engine.probe.meet(place, frame)
    if kind in {"binding", "buffer"}:
        mark_written(frame, cell)


def mark_written(frame: Frame, cell: Cell | None, key: object = None) -> None:
    """From here on what the last call left in the state, or in one entry of it, is gone."""
    if cell is None or not frame.engine.is_tracing:
        return
    frame.heap = frame.heap.marked(cell, key)


def note_default(env: Environment, name: str, default: ast.expr, value: Value) -> bool:
    """Record that a parameter holds its default, if that is one list or dict for all calls; `value` is what it is."""
    is_shared = is_mutable(value) or is_container(default)
    if is_shared:
        env[f"{name}.{DEFAULT}"] = TRUE
    return is_shared


def _holds_data(value: Value) -> bool:
    parts = value.items if isinstance(value, Tuple) else (value,)
    return any(isinstance(o, Scalar) for p in parts for o in options(p)) or any(
        is_computed_from_input(t) for t in tensors_in(value)
    )


def _mentions_data(frame: Frame, value: Value, source: ast.AST) -> bool:
    """Whether a value that is not known is computed from tensors that hold data of the inputs."""
    parts = value.items if isinstance(value, Tuple) else (value,)
    if not any(isinstance(option, Unknown) for part in parts for option in options(part)):
        return False
    waiting = [source]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Attribute) and node.attr in METADATA:
            continue
        if isinstance(node, ast.Name):
            found = frame.env.get(node.id)
            if any(isinstance(o, Tensor) and is_computed_from_input(o) for o in options(found or value)):
                return True
        waiting.extend(children(node))
    return False


def note_tensor_write(
    frame: Frame, owner: ast.expr, node: ast.AST, target: Tensor, operands: tuple[Value, ...]
) -> None:
    """Record that a tensor that outlives the call and is not a buffer is changed in place, by no traced tensor.

    What writes to a view of it is only recorded in the program.
    """
    if target.origin not in {Origin.ATTRIBUTE, Origin.GLOBAL} or not frame.engine.is_tracing:
        return
    if isinstance(owner, ast.Subscript) and isinstance(frame.peek(owner.value), Tensor):
        return
    given = [option for operand in operands for option in options(operand)]
    if any(isinstance(option, (Scalar, Unknown)) for option in given):
        return
    if all(t.known and t.origin in {Origin.ATTRIBUTE, Origin.GLOBAL} for o in given for t in tensors_in(o)):
        note_write(frame, cell_of(frame, owner), node, target, target, node, "tensor")


def note_made_tensor_write(
    frame: Frame, owner: ast.expr, node: ast.AST, target: Tensor, operands: tuple[Value, ...], name: str
) -> None:
    """Record that a tensor that a call made, and keeps in state, is changed in place.

    `name` is that of the operator. What writes all elements, or the same ones in each call, leaves nothing of earlier
    calls.
    """
    cell = cell_of(frame, owner) if target.origin is Origin.FRESH and frame.engine.is_tracing else None
    if cell is None:
        return
    if isinstance(cell.owner, Instance) and cell.name in cell.owner.buffers:
        return  # the program changes what a call binds a buffer to
    replaces = _is_same_part(owner) if name == STORED else name in REPLACING and not isinstance(owner, ast.Subscript)
    if replaces and isinstance(unindexed(owner), ast.Name):
        return  # a variable has read the state before, but nothing of what is replaced
    is_made_here = None in frame.heap.written.get(cell, frozenset())
    computes = name != STORED and name not in REPLACING and not is_made_here
    if computes or any(_holds_data(operand) for operand in operands):
        target = target.but(known=False, depends_on_input=True)
    note_write(frame, cell, node, target, target, node, "made tensor")
    if replaces:
        mark_written(frame, cell)


def _is_same_part(target: ast.expr) -> bool:
    """Whether `state[index]` is the same elements in each call: `0`, `:`, `..., 1:-1`."""
    return isinstance(target, ast.Subscript) and all(isinstance(node, _LITERAL_INDEX) for node in walk(target.slice))
