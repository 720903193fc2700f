"""What Python demands of a value: its truth, its number, its elements. Where that is tensor data, it is a fact."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.dim import ANY_SIZE
from exportlint.analysis.domain.lattice import each, join, one_of, options, tensors_in
from exportlint.analysis.domain.values import (
    ARRAY,
    BASE,
    NONE,
    PYTHON,
    UNKNOWN,
    Const,
    Dict,
    Guard,
    Object,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.instances import operator_method
from exportlint.analysis.eval.sizes import (
    any_size,
    compared_sizes,
    note_branch,
    note_conversion,
    note_guard,
    note_iteration,
    product,
    settled,
    truth_of,
    varying_dim,
)
from exportlint.analysis.facts import Branch, Construct, Conversion, DataRead
from exportlint.analysis.facts.tracing import Text

MAX_UNROLLED = 8


def data_of(value: Value) -> Tensor | Scalar | None:
    """The tensor data that a value surely is; None for what tracing knows.

    A value that is data only if an option or the rank of an input makes it so is none: export of the other alternative
    passes.
    """
    found: Tensor | Scalar | None = None
    for option in options(value):
        if not isinstance(option, (Tensor, Scalar)) or option.assumed or (isinstance(option, Tensor) and option.known):
            return None
        found = found or option
    return found


def is_constant(value: Value) -> bool:
    """Whether a value is a tensor whose number both modes know where Python asks for it, though not for its truth."""
    return isinstance(value, Tensor) and value.constant and value.origin is Origin.FRESH


def demand_truth(frame: Frame, value: Value, node: ast.expr, construct: Construct, **details: object) -> bool | None:
    """The truth of a value, or None if it is not known; a Branch if it is tensor data."""
    if isinstance(value, Object) and (own := _own_truth(frame, value, node)) is not None:
        return demand_truth(frame, own, node, construct, **details)
    demanded = frame.last_operands.pop(node, value) if isinstance(node, ast.BoolOp) else value
    data = None if frame.engine.constructing else data_of(demanded) or plain_tensor(demanded) or _undecided(demanded)
    if data is None and construct != "assert" and not frame.engine.constructing:
        data = _traced_array(frame, demanded, node)
    if data is not None:
        if isinstance(data, Tensor):
            read_data(frame, data, node, construct)
        frame.emit(Branch, node, data, construct=construct, condition=data, **details)
        return None
    _note_either(frame, demanded)
    guard = truth_of(value) if isinstance(value, Size) else value
    if isinstance(guard, Guard):
        note_branch(frame, guard, node, construct, raises=construct == "assert" or bool(details.get("raises")))
    return truth(value)


def _own_truth(frame: Frame, value: Object, node: ast.AST) -> Value | None:
    """What `__bool__` says, or else `__len__`; None if the class of an object has neither."""
    method = operator_method(frame, value, "__bool__", node)
    return own_length(frame, value, node) if method is None else frame.call(method, Arguments(()), node)


def own_length(frame: Frame, value: Value, node: ast.AST) -> Value | None:
    """What `len()` makes of the result of `__len__`: a plain number, but for strict mode. None if there is none."""
    method = operator_method(frame, value, "__len__", node)
    if method is None:
        return None
    count = frame.call(method, Arguments(()), node)
    is_data = demand_number(frame, count, node, "len()")
    if frame.engine.mode == "strict":
        return count
    return settled(count, "int") if isinstance(count, Size) else Python("int") if is_data else count


def _note_either(frame: Frame, value: Value) -> None:
    """Note that something is asked of a value that is data in one way, and something else in another."""
    if isinstance(value, Union) and frame.engine.is_tracing and any(map(data_of, value.options)):
        frame.engine.effects.asks_for_either = True


def stands_first(container: Tuple | Sequence, value: Value) -> bool:
    """Whether a list or tuple may begin with a tensor itself: Python asks for identity before it compares."""
    if isinstance(container, Sequence):
        return isinstance(value, Tensor) and value == container.item
    first = container.items[0] if container.items else None
    is_alike = isinstance(value, Tensor) and value == first
    return is_alike and getattr(first, "name", "") == getattr(value, "name", "")


def ranged(value: Value) -> Scalar | None:
    """A number of which torch.export knows a range, and so not the number."""
    if not isinstance(value, Scalar) or value.within is None:
        return None
    return value if value.within[0] < value.within[1] else None


def _undecided(value: Value) -> Scalar | None:
    """A number whose range does not decide its truth."""
    number = ranged(value)
    return number if number is not None and number.truth is None else None


def plain_tensor(value: Value) -> Tensor | None:
    """A tensor that is a plain attribute or a global: tracing reads its number, but not its truth."""
    plain = isinstance(value, Tensor) and value.known and value.origin in {Origin.ATTRIBUTE, Origin.GLOBAL}
    return value if plain and isinstance(value, Tensor) else None


def _traced_array(frame: Frame, value: Value, node: ast.AST) -> Tensor | None:
    """What numpy computes is a tensor for strict mode, also where no tensor takes part. An `assert` asks eager's."""
    if frame.engine.mode != "strict" or not all(map(_is_array, options(value))):
        return None
    return Tensor(array=True, trail=frame.trail(node, "`{}` is computed by NumPy, which strict mode traces"))


def held_number(frame: Frame, value: Value, node: ast.AST) -> Tensor | None:
    """A number that numpy computed before the trace is a 0-d tensor for strict mode."""
    return _traced_array(frame, value, node) if _is_held(value) else None


def _is_array(value: Value) -> bool:
    return value == ARRAY or _is_held(value)


def _is_held(value: Value) -> bool:
    return isinstance(value, Baked) and value.source == "numpy"


def truth(value: Value) -> bool | None:
    """The truth of a value where tracing knows it and so do we."""
    known = {_truth(option) for option in options(value)}
    return known.pop() if len(known) == 1 else None


def _truth(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Scalar):
        return value.truth
    if isinstance(value, Size):
        return _truth(compared_sizes(ast.NotEq(), value, Const(0)))
    if isinstance(value, Tuple):
        return bool(value.items)
    if isinstance(value, TorchModule) and value.items is not None and not value.name.endswith("Sequential"):
        return None
    if isinstance(value, Object):
        methods = value.instance.definition.methods
        return None if "__len__" in methods or "__bool__" in methods else True
    return None


def demand_number(frame: Frame, value: Value, node: ast.AST, target: str) -> bool:
    """Whether Python's demand for the number behind a value is one for tensor data: then it is a Conversion."""
    given = without_none(value)
    data = None if frame.engine.constructing else data_of(given) or ranged(given)
    if data is not None and is_constant(data) and target != "range()":
        return False
    if data is None and target not in {"int()", "float()"}:  # these give a number of the program, of no value
        data = held_number(frame, given, node)
    if data is None:
        _note_either(frame, given)
        note_conversion(frame, value, node, target)
        if target != "float()" or frame.engine.mode == "non-strict":  # TorchDynamo keeps the symbol
            note_guard(frame, given, node)
        return False
    if isinstance(data, Tensor):
        read_data(frame, data, node, target)
    frame.emit(Conversion, node, data, target=target, operand=data)
    return True


def without_none(value: Value) -> Value:
    """What a value is where None would not do: Python refuses it, and so the code never gets that far with it."""
    return join([option for option in value.options if option != NONE]) if isinstance(value, Union) else value


def demand_hash(frame: Frame, value: Value, node: ast.AST, target: str, *, refused: bool = False) -> None:
    """A set or a dictionary needs the hash of a value: numbers read from tensors have none, tensors have one.

    `refused`: a key that no constant is equal to is not found, and that raises.
    """
    if isinstance(value, Tuple):
        for item in () if value.mutable else value.items:
            demand_hash(frame, item, node, target)
        return
    data = data_of(value) or ranged(value)
    if isinstance(data, Scalar):
        frame.emit(Conversion, node, data, target=target, operand=data)
    note_conversion(frame, product(value.tensor) if isinstance(value, Shape) else value, node, target, refused=refused)


def note_text(frame: Frame, value: Value, node: ast.AST, api: str) -> None:
    """Record that Python makes text of tensor data, or of a list or tuple of tensors."""
    data = data_of(value)
    if data is None and isinstance(value, (Tuple, Sequence)):
        data = next((t for t in tensors_in(value) if not t.assumed and not t.known), None)
    if data is not None and not frame.engine.constructing:
        frame.emit(Text, node, data, api=api, operand=data)


def read_data(frame: Frame, tensor: Tensor, node: ast.AST, operation: str, *, mutates: bool = False) -> None:
    """Note that an operator reads a tensor: that matters if `.data` gave it."""
    if tensor.data is not None and not frame.engine.silent:
        frame.engine.emit(
            DataRead(tensor.data, frame.symbol, frame.guards > 0, tensor.trail, tensor, operation, mutates)
        )


def elements(frame: Frame, value: Value, node: ast.AST) -> Value:
    """What iterating over a value gives, element by element."""
    return one_of([_elements(frame, option, node) for option in options(filled(value))])


def filled(value: Value, index: Value = UNKNOWN) -> Value:
    """What a value is where code takes an element of it: a list or tuple without it would raise."""
    if not isinstance(value, Union):
        return value
    place = index.value if isinstance(index, Const) and isinstance(index.value, int) else 0
    least = place + 1 if place >= 0 else -place
    kept = [option for option in value.options if not (isinstance(option, Tuple) and len(option.items) < least)]
    return join(kept) if kept else value


def compared_elements(frame: Frame, value: Value, node: ast.AST) -> Value:
    """What iterating over a value gives, where all elements are compared: data if one of them surely is."""
    items = value.items if isinstance(value, Tuple) else ()
    return next((item for item in items if data_of(item) is not None), None) or elements(frame, value, node)


def keyed_elements(frame: Frame, value: Value, key: Value, node: ast.AST, place: ast.AST) -> Value:
    """What `key` makes of the elements of a value, where all of these are compared: data if one of them surely is.

    The value stands at `place`.
    """
    items = known_items(value)
    if isinstance(value, Dict) and value.rest is None and len(value.entries) <= MAX_UNROLLED:
        items = tuple(Const(name) for name, _ in value.entries)
    if not items:
        return frame.call(key, Arguments((compared_elements(frame, value, place),)), node)
    made = [frame.call(key, Arguments((item,)), node) for item in items]
    return next((each for each in made if data_of(each) is not None), None) or join(made)


def _elements(frame: Frame, value: Value, node: ast.AST) -> Value:
    value = built_on(value)
    if isinstance(value, Tensor):
        read_data(frame, value, node, "iteration")
        if 0 in value.dynamic and not value.assumed:
            frame.emit(Conversion, node, value, target="iteration", operand=value)
        note_iteration(frame, value, node)
        return element_of(value)
    if isinstance(value, Tuple):
        return join(value.items) if value.items else UNKNOWN
    if isinstance(value, Sequence):
        return value.item
    if isinstance(value, Shape):
        return Size(varying_dim(value.tensor), trail=value.tensor.trail)
    if isinstance(value, Scalar) and value.api == "tolist":
        return value  # a row of a list of lists
    if isinstance(value, Dict):
        return join(Const(k) for k, _ in value.entries) if value.entries and value.rest is None else PYTHON
    if isinstance(value, TorchModule) and value.items is not None:
        return one_of(value.items) if value.items else UNKNOWN
    if isinstance(value, Baked):
        return value
    if value == ARRAY and frame.engine.mode == "strict":
        return ARRAY
    return PYTHON if isinstance(value, (Python, Const)) else UNKNOWN


def built_on(value: Value) -> Value:
    """The `ModuleList` or the like that an object of the project is, by inheritance; any other value as it is."""
    return value.instance.attributes.get(BASE, value) if isinstance(value, Object) else value


def element_of(tensor: Tensor) -> Tensor:
    """A row of a tensor: `x[0]`, or what iterating gives."""
    return replace(
        tensor,
        shape=tensor.shape.removed(0),
        known=False,
        literal=False,
        constant=False,
        data=None,
        optional=False,
        form=tensor.form and tensor.form.deeper(-1),
    )


def any_entry(value: Dict) -> Value:
    """One of the entries of a dictionary, which one is not known: nothing is claimed if some are not tensor data."""
    values = [v for _, v in value.entries] + ([] if value.rest is None else [value.rest])
    if not values:
        return UNKNOWN
    found = join(values)
    return found if all(data_of(v) is not None for v in values) else doubtful(found)


def doubtful(value: Value) -> Value:
    """A value that is there only if the example inputs make it so: nothing is claimed about it."""
    return each(value, _doubtful)


def _doubtful(value: Value) -> Value:
    if isinstance(value, (Tensor, Scalar)):
        return replace(value, assumed=True)
    if isinstance(value, Tuple):
        return replace(value, items=tuple(doubtful(item) for item in value.items))
    if isinstance(value, Dict):
        entries = tuple((key, doubtful(entry)) for key, entry in value.entries)
        return replace(value, entries=entries, rest=None if value.rest is None else doubtful(value.rest))
    return replace(value, item=doubtful(value.item)) if isinstance(value, Sequence) else value


def known_items(value: Value) -> tuple[Value, ...] | None:
    """The elements of a short sequence of known length."""
    if isinstance(value, Tuple) and len(value.items) <= MAX_UNROLLED:
        return value.items
    return None


def unpack(frame: Frame, value: Value, count: int, node: ast.AST) -> tuple[Value, ...]:
    """What the targets of `a, b = value` get; `count` of them."""
    if isinstance(value, Union):
        columns = [unpack(frame, option, count, node) for option in value.options]
        return tuple(join(column) for column in zip(*columns, strict=True))
    if isinstance(value, Tuple) and len(value.items) == count:
        return value.items
    if isinstance(value, Shape):
        return tuple(size_of(value.tensor, i) for i in range(count))
    if isinstance(value, Object):
        fields = tuple(value.instance.attributes.values())
        return fields if len(fields) == count else (UNKNOWN,) * count
    return (rows(frame, value, node),) * count


def rows(frame: Frame, value: Value, node: ast.AST) -> Value:
    """The elements of a value where the code takes a fixed number of them, as `a, b = x` and `f(*x)` do."""
    if isinstance(value, Tensor):
        value = replace(value, shape=value.shape.replaced(0, ANY_SIZE)) if 0 in value.shape.varying else value
    return of_any_place(elements(frame, value, node))


def of_any_place(value: Value) -> Value:
    """An element of which it is not known where it stands: one of the sizes that a loop goes through may not vary."""
    return replace(value, dim=ANY_SIZE) if isinstance(value, Size) and value.dim.varies else value


def size_of(tensor: Tensor, dim: int | None) -> Value:
    """`x.shape[dim]`: a Size, or a Scalar where data decides it. `dim` None is any dimension."""
    if tensor.dynamic and (dim is None or tensor.shape.index(dim) in tensor.dynamic):
        return Scalar("int", "size", tensor.assumed, tensor.trail, None if dim is None else tensor.shape.at(dim))
    found = any_size(tensor) if dim is None else ANY_SIZE if tensor.assumed else tensor.shape.at(dim)
    return Size(found, trail=tensor.trail)
