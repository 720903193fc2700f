"""Indexing and slicing, reading and writing."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Seq
from dataclasses import replace
from typing import TypeGuard

from exportlint.analysis.domain.baked_values import Baked, baked_in
from exportlint.analysis.domain.dim import ANY_SIZE, ONE, Dim, Expression
from exportlint.analysis.domain.lattice import each, join, options
from exportlint.analysis.domain.shape import UNSHAPED, TensorShape
from exportlint.analysis.domain.values import (
    ARRAY,
    COMPUTED_ARRAY,
    ITERABLE,
    PYTHON,
    UNKNOWN,
    AttributesOf,
    Const,
    Dict,
    External,
    Object,
    Python,
    Registry,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import bake_in, propagate, read_environment
from exportlint.analysis.eval.classes import find_method
from exportlint.analysis.eval.demands import (
    any_entry,
    built_on,
    data_of,
    demand_hash,
    demand_number,
    filled,
    held_number,
    of_any_place,
    read_data,
    size_of,
)
from exportlint.analysis.eval.frame import Frame, evaluates
from exportlint.analysis.eval.gradients import is_unplaced, note_write, requires_grad, written
from exportlint.analysis.eval.names import top_level_value
from exportlint.analysis.eval.sizes import DATA, data_shape, note_fixed_rows, read_at, sliced
from exportlint.analysis.eval.state_access import STORED, note_attribute_read, note_made_tensor_write
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import HostRead, Mutation
from exportlint.analysis.facts.tracing import AliasSubscript, DataIndex
from exportlint.analysis.project import Definition
from exportlint.syntax.definitions import Assignment


@evaluates(ast.Subscript)
def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    container = frame.evaluate(node.value)
    index = frame.evaluate(node.slice)
    container = container if isinstance(node.slice, ast.Slice) else filled(container, index)
    found = each(container, lambda option: _item(frame, node, option, index))
    return propagate(frame, (index,), node, found, "choice")


def item(frame: Frame, container: Value, index: Value, node: ast.AST) -> Value:
    """`container[index]` where no subscript says so, as `operator.getitem` does at `node`."""
    place = ast.copy_location(ast.Constant(None), node)
    subscript = ast.copy_location(ast.Subscript(place, place, ast.Load()), place)
    return each(container, lambda option: _item(frame, subscript, option, index))


def _item(frame: Frame, node: ast.Subscript, container: Value, index: Value) -> Value:
    if isinstance(container, Tensor):
        return _tensor_item(frame, node, container, index)
    if isinstance(container, Shape):
        return _shape_item(frame, node, container, index)
    if isinstance(container, (Tuple, Sequence)):
        return _sequence_item(frame, node, container, index)
    if isinstance(container, Dict):
        return _dict_item(frame, node, container, index)
    if isinstance(container, TorchModule):
        return _module_item(frame, node, container, index)
    if isinstance(container, Scalar) and container.api == "tolist":
        return container  # a row of a list of lists
    if isinstance(container, Object):
        if find_method(frame, container.instance.definition, "__getitem__") is None:
            base = built_on(container)
            return UNKNOWN if base is container else _item(frame, node, base, index)
        return frame.call(frame.attribute(container, "__getitem__", node), Arguments((index,)), node)
    if isinstance(container, (AttributesOf, Registry)):
        name = index.value if isinstance(index, Const) else None
        if not isinstance(name, str):
            return UNKNOWN
        note_attribute_read(frame, container.receiver, name, node)
        return frame.attribute(container.receiver, name, node)
    if isinstance(container, Baked):
        return container
    if container in (ARRAY, COMPUTED_ARRAY):
        return _array_item(frame, node, container, index)
    if isinstance(container, External):
        asked = read_environment(frame, container, node)
        if asked is not None:
            return asked
        _note_alias(frame, node, container)
        return container  # `list[int]`, `Callable[...]`: a type
    return UNKNOWN if isinstance(container, Unknown) else PYTHON


BUILTIN_GENERICS = frozenset({"builtins.list", "builtins.dict", "builtins.tuple", "builtins.set"})
GENERICS = BUILTIN_GENERICS | {"typing.List", "typing.Union", "typing.Optional"}


def _note_alias(frame: Frame, node: ast.Subscript, container: External) -> None:
    """Record `list[Names]` after `Names = dict[str, int]` at the top level of a file."""
    if frame.engine.mode != "strict" or container.name not in GENERICS:
        return
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    alias = next((p for p in parts if isinstance(p, ast.Name) and _is_alias(frame, p.id)), None)
    if alias is not None:
        frame.emit(AliasSubscript, node, None, alias=alias.id)


def _is_alias(frame: Frame, name: str) -> bool:
    """Whether a name is no local variable, and the top level of a file binds it to a type such as `dict[str, int]`."""
    cell = frame.parent
    while cell is not None:
        if name in cell.variables:
            return False
        cell = cell.parent
    if name in frame.env:
        return False
    found = frame.engine.project.meaning(frame.module, name)
    if not isinstance(found, Definition) or not isinstance(found.binding, Assignment):
        return False
    value = found.binding.value
    if not isinstance(value, ast.Subscript) or found.binding.index is not None:
        return False
    base = top_level_value(frame.engine, found.module, value.value)
    return isinstance(base, External) and base.name in BUILTIN_GENERICS


def _array_item(frame: Frame, node: ast.Subscript, container: Value, index: Value) -> Value:
    """An item or a part of an array: numpy asks tensors among the indices for their memory."""
    values = index.items if isinstance(index, Tuple) else (index,)
    tensor = next((t for value in values if isinstance(t := data_of(value), Tensor)), None)
    if tensor is not None:
        frame.emit(HostRead, node, tensor, api="np.ndarray.__getitem__", operand=tensor)
    if frame.engine.mode == "strict":  # which traces arrays as tensors
        return ARRAY
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    asked = list(zip(parts, values, strict=False))
    for part in parts:
        if isinstance(part, ast.Slice):
            asked += [(bound, frame.peek(bound)) for bound in (part.lower, part.upper) if bound is not None]
    for part, value in asked:
        if isinstance(data_of(value), Scalar):
            demand_number(frame, value, part, "array index")
    return container if any(isinstance(part, ast.Slice) for part in parts) else PYTHON


def _tensor_item(frame: Frame, node: ast.Subscript, tensor: Tensor, index: Value) -> Value:
    if isinstance(index, Const) and isinstance(index.value, str):
        return UNKNOWN  # what is indexed with strings is no tensor
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    values = index.items if isinstance(index, Tuple) and isinstance(node.slice, ast.Tuple) else (index,)
    if not tensor.assumed:
        _note_read_at(frame, node, parts, values)
        _note_index_lists(frame, node, index)
    held = _held_indices(node, index)
    if held:
        return _gathered(frame, node, tensor, held)
    dims: list[Dim] = []
    shape = tensor.shape
    position = 0
    for part, given in zip(parts, values, strict=False):
        value = next((o for o in options(given) if isinstance(o, Tensor)), given)
        if isinstance(part, ast.Slice):
            dims.append(_sliced(frame, part, tensor, position))
            position += 1
        elif isinstance(value, Const) and value.value is None:
            dims.append(ONE)
        elif isinstance(value, Tensor) and _selects_by_data(value):
            dims.append(_selected(frame, part, value, node, len(dims)))
            position += 1
        elif isinstance(value, (Tensor, Tuple, Sequence)):
            dims.append(ANY_SIZE)
            position += 1
        elif isinstance(value, Python) and value.type == "ellipsis":
            kept = tensor.shape.dims[:1] if position == 0 else ()
            made = result(frame, node, "indexing", (tensor, index), tensor.kind, TensorShape((*dims, *kept)))
            if _is_view(parts, values):
                made = replace(made, region=tensor.region, form=None)
            unplaced = _is_unplaced_view(frame, tensor, parts, values)
            return replace(made, origin=tensor.origin, unplaced=unplaced, trail=tensor.trail)
        else:
            position += 1
    is_mask = any(isinstance(value, Tensor) for value in values)
    rank = None if shape.rank is None or is_mask else shape.rank - position + len(dims)
    shape = TensorShape((*dims, *shape.dims[position:]), rank)
    made = result(frame, node, "indexing", (tensor, *values), tensor.kind, shape)
    unplaced = _is_unplaced_view(frame, tensor, parts, values)
    return replace(_related(tensor, made, parts, values), origin=tensor.origin, unplaced=unplaced, trail=tensor.trail)


def _selected(frame: Frame, part: ast.expr, index: Tensor, node: ast.AST, position: int) -> Dim:
    """How much a mask or index selects: as much as there are indices, and what a mask in a variable always selects."""
    count = index.shape.at(0)
    if index.kind == "int" and isinstance(count, Expression):
        return count
    if index.kind == "bool" and isinstance(part, ast.Name) and index.trail is not None:
        return read_at(frame, index.trail.node, "mask")
    return read_at(frame, node, position)


def _is_unplaced_view(frame: Frame, tensor: Tensor, parts: Seq[ast.expr], values: Seq[Value]) -> bool:
    if not _is_view(parts, values):
        return False
    is_index = any(isinstance(value, Scalar) and is_unplaced(value) for value in values)
    return tensor.unplaced or is_index or bool(_unplaced_bounds(frame, parts))


def _held_indices(node: ast.Subscript, index: Value) -> tuple[Tensor, ...]:
    """The tensors in a tuple that a variable or call gives as the index, if it holds nothing else."""
    if isinstance(node.slice, ast.Tuple):
        return ()
    if isinstance(index, Tuple) and not index.mutable and not index.lazy:
        items: tuple[Value, ...] = index.items
    elif isinstance(index, Sequence) and index.type == "tuple":
        items = (index.item,)
    else:
        return ()
    found = tuple(item for item in items if isinstance(item, Tensor) and not item.assumed)
    return found if len(found) == len(items) else ()


def _gathered(frame: Frame, node: ast.Subscript, tensor: Tensor, indices: tuple[Tensor, ...]) -> Tensor:
    """`x[torch.where(mask)]`: the elements at indices that are broadcast with each other."""
    depends = any(map(_selects_by_data, indices))
    size = data_shape(frame, UNSHAPED, (0,), node).at(0) if depends else ANY_SIZE
    made = result(frame, node, "indexing", (tensor, *indices), tensor.kind, TensorShape((size,)))
    return replace(made, origin=tensor.origin, trail=tensor.trail)


def _selects_by_data(index: Tensor) -> bool:
    """Whether data tells how much a tensor selects as an index: it is a mask, or has a size that depends on data."""
    return index.kind == "bool" or bool(index.dynamic)


def _related(tensor: Tensor, made: Tensor, parts: Seq[ast.expr], values: Seq[Value]) -> Tensor:
    """What plain indices give is a view of the tensor, of a form that they tell."""
    form, is_view = tensor.form, True
    for part, value in zip(parts, values, strict=False):
        if isinstance(part, ast.Slice):
            form = form and (form.resize() if _cuts(part) else form)
        elif isinstance(value, Const) and value.value is None:
            form = form and form.deeper(1)
        elif isinstance(value, (Const, Size, Scalar)):
            form = form and form.deeper(-1)
        else:
            is_view, form = False, None
    return replace(made, region=tensor.region if is_view else made.region, form=form)


def _cuts(node: ast.Slice) -> bool:
    """`[1:]`, `[:-1]`: it surely leaves something out."""
    lower, upper = node.lower, node.upper
    is_cut = isinstance(lower, ast.Constant) and isinstance(lower.value, int) and lower.value > 0
    return is_cut or (isinstance(upper, ast.UnaryOp) and isinstance(upper.op, ast.USub))


def _sliced(frame: Frame, node: ast.Slice, tensor: Tensor, position: int) -> Dim:
    """The size of a slice: data surely decides it if it decides one bound, and not the size or the other bound too."""
    bounds = [end for end in (node.lower, node.upper) if end is not None]
    count = sum(data_of(frame.peek(bound)) is not None for bound in bounds)
    if not count:
        return sliced(frame, node, tensor, position)
    is_size_data = node.upper is None and position in tensor.dynamic
    return DATA if count == 1 and not is_size_data else ANY_SIZE


def _shape_item(frame: Frame, node: ast.Subscript, shape: Shape, index: Value) -> Value:
    if isinstance(node.slice, ast.Slice):
        return shape if node.slice.lower is None else Sequence(Size(trail=shape.tensor.trail), "tuple")
    demand_number(frame, index, node.slice, "list index")
    if isinstance(index, Const) and isinstance(index.value, int):
        return size_of(shape.tensor, index.value)
    return Size(trail=shape.tensor.trail)


def _sequence_item(frame: Frame, node: ast.Subscript, container: Tuple | Sequence, index: Value) -> Value:
    if isinstance(container, Sequence) and container.type == ITERABLE:
        return container if isinstance(node.slice, ast.Slice) else container.item  # perhaps a tensor: it takes data
    if isinstance(node.slice, ast.Slice):
        for part in (node.slice.lower, node.slice.upper, node.slice.step):
            if part is not None:
                demand_number(frame, frame.peek(part), part, "list slice")
        if isinstance(container, Tuple):
            bounds = slice_bounds(frame, node.slice)
            if bounds is not None:
                return Tuple(container.items[bounds], container.mutable)
            return Sequence(join(container.items)) if container.items else UNKNOWN
        return container
    if demand_number(frame, index, node.slice, "list index"):
        return _any_item(container)
    if isinstance(container, Tuple) and isinstance(index, Const) and isinstance(index.value, int):
        in_range = -len(container.items) <= index.value < len(container.items)
        return container.items[index.value] if in_range else UNKNOWN
    return _any_item(container)


def slice_bounds(frame: Frame, node: ast.Slice) -> slice | None:
    """The slice, if all its bounds are known."""
    bounds: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        value = Const(None) if part is None else frame.peek(part)
        if not isinstance(value, Const) or not (value.value is None or isinstance(value.value, int)):
            return None
        bounds.append(value.value)
    return None if bounds[2] == 0 else slice(*bounds)


def _any_item(container: Tuple | Sequence) -> Value:
    if isinstance(container, Sequence):
        return of_any_place(container.item)
    return join(container.items) if container.items else UNKNOWN


def _dict_item(frame: Frame, node: ast.Subscript, container: Dict, index: Value) -> Value:
    demand_hash(frame, index, node.slice, "dict key", refused=container.rest is None and not frame.may_go_on)
    if isinstance(index, Const):
        found = container.get(index.value)
        if found is not None:
            return found
    elif container.entries:
        return any_entry(container)
    return of_any_place(container.rest) if container.rest is not None else UNKNOWN


def _module_item(frame: Frame, node: ast.Subscript, container: TorchModule, index: Value) -> Value:
    if isinstance(node.slice, ast.Slice):
        return container
    if container.items is None:
        return UNKNOWN
    if container.keys and isinstance(index, Const):
        for key, item in zip(container.keys, container.items, strict=True):
            if key == index.value:
                return item
    if container.name.endswith("Dict"):
        demand_hash(frame, index, node.slice, "dict key", refused=not frame.may_go_on)
    else:
        demand_number(frame, index, node.slice, "list index")
    if isinstance(index, Const) and isinstance(index.value, int) and 0 <= index.value < len(container.items):
        return container.items[index.value]
    return join(container.items) if container.items else UNKNOWN


def store(frame: Frame, target: ast.Subscript, container: Value, value: Value) -> None:
    """`container[index] = value`."""
    index = frame.evaluate(target.slice)
    _note_written_at(frame, target, container, index, value)
    for option in options(container):
        if isinstance(option, Tensor) and not option.assumed:
            read_data(frame, option, target, "[…] =", mutates=True)
            bake_in(frame, value, target, "operator")
            bake_in(frame, index, target, "choice")
            data = data_of(value)
            if isinstance(data, Tensor):
                read_data(frame, data, target, "[…] =")
            frame.emit(Mutation, target, option, api="[…] =", target=option, operands=(value,))
            note_made_tensor_write(frame, target, target, option, (value,), STORED)
            _note_stored_at(frame, target, index)
            first = target.slice.elts[0] if isinstance(target.slice, ast.Tuple) and target.slice.elts else target.slice
            if isinstance(first, ast.Slice) and not _cuts_rows(first):
                note_fixed_rows(frame, (option, value), target, "[…] =")
        elif isinstance(option, (Tuple, Sequence)):
            is_open = isinstance(option, Sequence) and option.type == ITERABLE
            if not isinstance(target.slice, ast.Slice) and not is_open:
                demand_number(frame, index, target.slice, "list index")
        elif isinstance(option, Dict):
            demand_hash(frame, index, target.slice, "dict key")
    _store_baked(frame, target, container, value)


def _cuts_rows(node: ast.Slice) -> bool:
    return any(bound is not None for bound in (node.lower, node.upper, node.step))


def _store_baked(frame: Frame, target: ast.Subscript, container: Value, value: Value) -> None:
    """`noise[0] = random.random()` of an array in a variable: from here on the array is what the host gave."""
    baked = next(baked_in(value), None)
    if baked is not None and container in (ARRAY, COMPUTED_ARRAY) and isinstance(target.value, ast.Name):
        frame.env[target.value.id] = replace(baked, type=None)


def _note_stored_at(frame: Frame, target: ast.Subscript, index: Value) -> None:
    """Record the indices of an assignment to a tensor that torch wants as numbers."""
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    values = index.items if isinstance(index, Tuple) and not index.mutable else (index,)
    if len(values) > 1:
        _demand_numbers(frame, values, target.slice, "index of an assignment")
    for value in values:
        if _is_number(value):
            demand_number(frame, value, target.slice, "index of an assignment")
    _note_index_lists(frame, target, index)
    for bound in _bounds_in(parts):
        value = frame.peek(bound)
        data = data_of(value)
        is_asked = isinstance(data, Tensor) and frame.engine.mode == "non-strict"
        if data is not None and (is_asked or data.kind == "bool"):
            demand_number(frame, value, target.slice, "slice bound")
        elif isinstance(data, Tensor):
            frame.emit(DataIndex, target.slice, data, place="stored", operand=data)
        elif _is_read_in_place(bound, data):
            frame.emit(DataIndex, target.slice, data, place="unchecked", operand=data)


def _note_written_at(frame: Frame, target: ast.Subscript, container: Value, index: Value, value: Value) -> None:
    """Record an assignment through a view at a place that is not known, and that the tensor then requires gradients."""
    tensors = [option for option in options(container) if isinstance(option, Tensor)]
    if not tensors or not (requires_grad(container) or requires_grad(value)):
        return
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    values = index.items if isinstance(index, Tuple) and isinstance(target.slice, ast.Tuple) else (index,)
    places: list[Value] = []
    if _is_view(parts, values):
        places = [*_unplaced_bounds(frame, parts), *(v for v in values if isinstance(v, Scalar) and is_unplaced(v))]
    is_asked = frame.engine.mode == "non-strict" and any(isinstance(place, Tensor) for place in places)
    if not is_asked and not (len(values) > 1 and any(isinstance(value, Scalar) for value in values)):
        note_write(frame, container, (value,), places[0] if places else None, target)
    name = target.value.id if isinstance(target.value, ast.Name) else None
    if name is not None and isinstance(container, Tensor) and isinstance(frame.env.get(name), Tensor):
        frame.env[name] = written(container, (value,), frame)


def _is_view(parts: Seq[ast.expr], values: Seq[Value]) -> bool:
    """Whether a tensor at these indices surely is a view."""
    return len(parts) == len(values) and all(
        isinstance(part, ast.Slice)
        or isinstance(value, (Size, Scalar))
        or (isinstance(value, Const) and (value.value is None or type(value.value) is int))
        or value in {Python("ellipsis"), Python("int")}
        for part, value in zip(parts, values, strict=True)
    )


def _unplaced_bounds(frame: Frame, parts: Seq[ast.expr]) -> Seq[Value]:
    return [value for bound in _bounds_in(parts) if is_unplaced(value := frame.peek(bound))]


def _note_read_at(frame: Frame, node: ast.AST, parts: Seq[ast.expr], values: Seq[Value]) -> None:
    """Record the indices that torch wants as numbers where a tensor is read."""
    if len(parts) > 1 and _takes_no_numbers(frame, values):
        _demand_numbers(frame, values, node, "index of a tensor")
    is_asked = frame.engine.mode == "strict" or any(map(_selects_rows, values))
    for part, given in zip(parts, values, strict=False):
        value = next((o for o in options(given) if isinstance(o, Tensor)), given)
        is_number = _is_number(value) and (value.kind == "bool" or is_asked)
        if is_number or (not isinstance(part, ast.Slice) and held_number(frame, value, node) is not None):
            demand_number(frame, value, node, "index of a tensor")
    for bound in _bounds_in(parts):
        value = frame.peek(bound)
        data = data_of(value)
        if data is not None and data.kind == "bool":
            demand_number(frame, value, node, "slice bound")
        elif (isinstance(data, Tensor) and not data.assumed) or _is_read_in_place(bound, data):
            frame.emit(DataIndex, node, data, place="unchecked", operand=data)
    for value in values if frame.engine.mode == "non-strict" else ():
        data = data_of(value)
        if isinstance(data, Scalar) and not data.assumed and data.api != "size":
            frame.emit(DataIndex, node, data, place="number", operand=data)
    if (data := _moved_start(frame, parts, values)) is not None:
        frame.emit(DataIndex, node, data, place="moved", operand=data)


def _moved_start(frame: Frame, parts: Seq[ast.expr], values: Seq[Value]) -> Scalar | None:
    """The number read from a tensor at which a slice starts, if a later index of the same subscript moves the start on.

    Strict mode has one node for all of `x[n:, 1:]`, and misses the symbol for the place that `x[n:]` alone starts at.
    Up to torch 2.9, neither mode starts a slice at a number without knowing its sign.
    """
    start: Scalar | None = None
    for part, value in zip(parts, values, strict=False):
        lower = frame.peek(part.lower) if isinstance(part, ast.Slice) and part.lower is not None else None
        if start is not None and _moves(part, value, lower):
            return start
        data = data_of(lower) if lower is not None else None
        if isinstance(data, Scalar) and not data.assumed and data.api in {"item", "tolist"}:
            start = data
    return None


def _moves(part: ast.expr, value: Value, lower: Value | None) -> bool:
    """Whether an index surely leaves out the first element, or surely copies what it selects."""
    if isinstance(part, ast.Slice):
        given = lower
    elif isinstance(value, Tensor):
        return not (value.assumed or value.zero_dim)
    elif _is_list(value):
        return True
    else:
        given = value
    if isinstance(given, Const):
        return isinstance(given.value, int) and not isinstance(given.value, bool) and given.value != 0
    return isinstance(given, Scalar) and isinstance(part, ast.Slice) and not given.assumed


def _is_number(value: Value) -> TypeGuard[Tensor]:
    """Whether an index is a tensor that stands for a number which export does not know: then it may ask for it."""
    return _may_be_number(value) and value.zero_dim and not value.literal


def _may_be_number(value: Value) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.kind != "float" and not value.known


def _selects_rows(value: Value) -> bool:
    """Whether an index surely is one for several rows. Beside it, export asks 0-d tensors for their numbers (2.13)."""
    return bool(value.shape.rank) if isinstance(value, Tensor) else _is_list(value)


def _note_index_lists(frame: Frame, node: ast.Subscript, index: Value) -> None:
    """Record tensor data in lists and tuples among the indices: torch makes a tensor of each, by its numbers.

    A list that is the only index may hold indices: tensors of several elements are none of its numbers, and torch 2.15
    takes 0-d tensors as they are.
    """
    if isinstance(index, Tuple) and not index.mutable:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice] * len(index.items)
        for part, value in zip(parts, index.items, strict=False):
            for number in _numbers_in(value):
                demand_number(frame, number, part, "index list")
        return
    lone = "lone index list" if isinstance(node.ctx, ast.Load) else "lone index list of an assignment"
    for number in _numbers_in(index, is_alone=True):
        is_index = isinstance(number, Tensor) and number.kind != "bool"
        demand_number(frame, number, node.slice, lone if is_index else "index list")


def _numbers_in(index: Value, *, is_alone: bool = False) -> Seq[Value]:
    """The data that a list or tuple surely holds; that a loop which fills one may run no pass does not count."""
    found = [
        [number for item in _listed(option) for number in _numbers_of(item, is_alone=is_alone)]
        for option in options(filled(index))
    ]
    return found[0] if all(found) else []


def _numbers_of(item: Value, *, is_alone: bool) -> Seq[Value]:
    if isinstance(item, Scalar) or (_is_number(item) if is_alone else _may_be_number(item)):
        return [item]
    return _numbers_in(item)


def _listed(value: Value) -> Seq[Value]:
    """What a list or tuple holds."""
    if isinstance(value, Tuple):
        return value.items
    return (value.item,) if isinstance(value, Sequence) and value.type in {"list", "tuple"} else ()


def _is_list(value: Value) -> bool:
    return isinstance(value, Tuple) and value.mutable


def _is_read_in_place(bound: ast.expr, data: Tensor | Scalar | None) -> bool:
    """Whether a bound is a call that reads data of a tensor: no variable holds it that could have been checked."""
    return isinstance(bound, ast.Call) and isinstance(data, Scalar) and not data.assumed and data.api != "size"


def _bounds_in(parts: Seq[ast.expr]) -> Seq[ast.expr]:
    slices = [part for part in parts if isinstance(part, ast.Slice)]
    return [bound for part in slices for bound in (part.lower, part.upper) if bound is not None]


def _takes_no_numbers(frame: Frame, values: Seq[Value]) -> bool:
    """Whether reading a tensor at several indices fails for a number that was read from a tensor.

    `x[0, n]` does in strict mode, whose graph holds the index as a whole; beside a tensor it does so everywhere.
    """
    return frame.engine.mode == "strict" or any(isinstance(value, Tensor) for value in values)


def _demand_numbers(frame: Frame, values: Seq[Value], node: ast.AST, target: str) -> None:
    """Demand the numbers that `.item()` gave of several indices; what the size of data gives is measured no better."""
    for value in values:
        data = data_of(value)
        if isinstance(data, Scalar) and data.api != "size":
            demand_number(frame, value, node, target)
