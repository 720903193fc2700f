"""Results of operators of torch, by what the torch table says of them."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.lattice import merged, options, tensors_in, union
from exportlint.analysis.domain.shape import SCALAR
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    External,
    Kind,
    Python,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import read_data
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.gradients import is_carried, note_write
from exportlint.analysis.eval.sizes import data_shape
from exportlint.analysis.eval.tensor_results import promoted, result
from exportlint.analysis.facts import Creation, HostRead, Mutation
from exportlint.analysis.models.torch.data_dependent_dims import data_dims, flat, kept_dims, selected_dim
from exportlint.analysis.models.torch.overload_types import coarse
from exportlint.analysis.models.torch.shape_rules import note_sizes, result_shape
from exportlint.analysis.models.torch.size_needs import divided_dims, note_numbers, note_size_needs, note_varying_sizes
from exportlint.analysis.torch import table
from exportlint.analysis.torch.dtypes import DTYPES, dtype_name
from exportlint.analysis.torch.layers import find_layer
from exportlint.analysis.torch.operator import Backward
from exportlint.analysis.torch.registry import find

JOINS = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack"})
"""Operators that make one tensor of several."""


def apply(frame: Frame, api: table.Api, arguments: Arguments, node: ast.AST, receiver: Tensor | None = None) -> Value:
    """The result of a function or method of the table; what it reads and writes is noted."""
    operands = (*([receiver] if receiver is not None else []), *arguments.values)
    short = api.name if receiver is None else api.name.rpartition(".")[2]
    given = _without_unset(api, arguments)
    overload = table.select(
        api, [coarse(v) for v in given.positional], {k: coarse(v) for k, v in given.keywords.items()}
    )
    note_sizes(frame, short, operands, arguments, node)
    _note_writes(frame, api, arguments, node, receiver)
    note_numbers(frame, api, overload, arguments, node)
    note_size_needs(frame, short, operands, arguments, node)
    note_varying_sizes(frame, short, operands, node)
    reads = overload.reads_data if overload is not None else _always(api, "reads_data")
    record = find(short)
    of_known = record.host is not None
    read = next((t for o in operands for t in tensors_in(o) if not t.assumed and (of_known or not t.known)), None)
    if (reads or of_known or record.reads_before is not None) and read is not None:
        read_data(frame, read, node, short)
        frame.emit(HostRead, node, read, api=short, operand=read)
    if api.creates:
        note_creation(frame, short, arguments, node)
    dynamic = overload.dynamic_shape if overload is not None else _always(api, "dynamic_shape")
    returns = overload.returns if overload is not None else _common_returns(api)
    if any(map(_has_alternatives, operands)):
        operands = tuple(map(_as_one, operands))
        keywords = {name: _as_one(value) for name, value in arguments.keywords.items()}
        arguments = replace(arguments, positional=tuple(map(_as_one, arguments.positional)), keywords=keywords)
    return build(frame, node, short, returns, operands, dynamic=dynamic, creates=api.creates, arguments=arguments)


def _without_unset(api: table.Api, arguments: Arguments) -> Arguments:
    """The arguments without one whose number stands for leaving it out: -1 of `one_hot(x, -1)`."""
    record = find(api.name)
    if record.unset is None:
        return arguments
    parameter, number = record.unset
    names = max((overload.parameters for overload in api.overloads), key=len)
    pairs = zip(names, arguments.positional, strict=False)
    positional = tuple([value for name, value in pairs if (name, value) != (parameter, Const(number))])
    keywords = {k: v for k, v in arguments.keywords.items() if (k, v) != (parameter, Const(number))}
    return replace(arguments, positional=positional, keywords=keywords)


def _has_alternatives(operand: Value) -> bool:
    return isinstance(operand, Union) or any(map(_has_alternatives, items_of(operand)))


def _as_one(operand: Value) -> Value:
    """An operand of which the tensors that it can be are one, and the lists: only what they share is known.

    So the result has the shape and dtype of whichever it is.
    """
    if isinstance(operand, Tuple):
        return replace(operand, items=tuple(map(_as_one, operand.items)))
    if isinstance(operand, Sequence):
        return replace(operand, item=_as_one(operand.item))
    if not isinstance(operand, Union):
        return operand
    found = list(operand.options)
    for types in (Tensor, (Tuple, Sequence)):
        alike = [option for option in found if isinstance(option, types)]
        if len(alike) > 1:
            found = [*options(merged(alike)), *(option for option in found if option not in alike)]
    return union(map(_as_one, found))


def _always(api: table.Api, flag: str) -> bool:
    return bool(api.overloads) and all(getattr(o, flag) for o in api.overloads)


def _common_returns(api: table.Api) -> table.Returns:
    kinds = {o.returns.kind for o in api.overloads}
    return api.overloads[0].returns if len(kinds) == 1 else table.Returns("unknown")


def build(
    frame: Frame,
    node: ast.AST,
    name: str,
    returns: table.Returns,
    operands: tuple[Value, ...],
    *,
    dynamic: bool = False,
    creates: bool = False,
    arguments: Arguments | None = None,
) -> Value:
    """A value of the type that the table gives."""
    if returns.kind in {"tensor", "self"}:
        shape = SCALAR if _is_zero_dim(name, arguments) else result_shape(name, operands, arguments)
        dims = selected_dim(name, arguments) if dynamic else data_dims(name, arguments) if creates else frozenset()
        dims = dims or kept_dims(name, operands, shape) or divided_dims(name, operands, arguments)
        shape = data_shape(frame, shape, dims - shape.dynamic, node)
        made = result(frame, node, name, flat(operands), dtype_of(returns, operands, arguments), shape)
        # Whatever went in, an operator of torch gives a tensor.
        made = made.but(
            assumed=False,
            dtype=named_dtype(arguments),
            joined=_joined(name, operands),
            untraced_backward=made.untraced_backward or (made.depends_on_input and _backward(name) == "untraced"),
            requires_grad=not creates and _is_carried(frame, name, returns, made, operands, arguments),
        )
        return made if not returns.optional else Union((made, NONE))
    if returns.kind == "tuple":
        items = tuple(
            build(frame, node, name, item, operands, dynamic=dynamic, arguments=arguments) for item in returns.items
        )
        return Tuple(items, fields=returns.fields)
    if returns.kind == "tensors":
        shape = data_shape(frame, result_shape(name, operands, arguments), (0,) if dynamic else (), node)
        kind = dtype_of(returns, operands, arguments)
        return Sequence(result(frame, node, name, flat(operands), kind, shape).but(assumed=False), "tuple")
    for operand in operands:
        for tensor in tensors_in(operand, 1):
            if returns.kind not in {"int", "bool", "size", "dtype", "device", "str", "none"}:
                read_data(frame, tensor, node, name)
    if returns.kind == "none":
        return NONE
    return UNKNOWN if returns.kind == "unknown" else Python(returns.kind)


UNDIFFERENTIABLE = frozenset({"detach", "histc", "lu", "lu_unpack", "lstsq", "type_as", "type"})
"""Operators whose results may not require gradients though those of their operands and dtypes do (measured on 2.13)."""
SPREADING = frozenset({
    "linear", "bilinear", "embedding", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "layer_norm", "group_norm", "rms_norm", "where", "einsum", "matmul", "bmm", "mm", "mv", "addmm",
    "baddbmm", "scaled_dot_product_attention", "scatter", "scatter_add", "index_add", "index_copy", "masked_scatter",
})  # fmt: skip
"""Operators that have the gradients of any operand; others have, to be sure, those of the first."""
FLOATING = frozenset({"dropout", "interpolate", "pad"})
"""Further operators that keep floats, which the table does not say."""


def _is_carried(
    frame: Frame,
    name: str,
    returns: table.Returns,
    made: Tensor,
    operands: tuple[Value, ...],
    arguments: Arguments | None,
) -> bool:
    """Whether the result of an operator surely requires gradients."""
    short = name.rpartition(".")[2]
    is_float = returns.dtype != "unknown" or short in SPREADING | FLOATING or find_layer(name) is not None
    if not is_float or short in UNDIFFERENTIABLE or short.endswith("_like") or short.startswith("new_"):
        return False
    if name.startswith("torch.special."):
        return False
    if made.kind is None and arguments is not None and arguments.keywords.get("dtype", NONE) != NONE:
        return False
    spreads = short in SPREADING or find(name).shape == "elementwise"
    return is_carried(frame, made.kind, operands if spreads else operands[:1])


def _backward(name: str) -> Backward | None:
    layer = find_layer(name)
    return find(name).backward if layer is None else layer.backward


def _joined(name: str, operands: tuple[Value, ...]) -> frozenset[object]:
    """The buffers that an operator puts next to other tensors."""
    if name.rpartition(".")[2] not in JOINS or not operands or not isinstance(operands[0], Tuple):
        return frozenset()
    return frozenset(t.buffer for t in operands[0].items if isinstance(t, Tensor) and t.buffer is not None)


def _is_zero_dim(name: str, arguments: Arguments | None) -> bool:
    """`x.argmax()`, `torch.sum(x)`: a reduction without a dimension; `torch.zeros(())`."""
    if arguments is None:
        return False
    shape = find(name).shape
    if shape in {"sized", "filled", "drawn"}:
        last = arguments.positional[1:][-1:]
        size = arguments.keywords.get("size") or next(iter(last if shape == "drawn" else arguments.positional), None)
        return isinstance(size, Tuple) and not size.items
    return shape == "reduced" and len(arguments.values) == (1 if "." in name else 0)


def dtype_of(returns: table.Returns, operands: tuple[Value, ...], arguments: Arguments | None) -> Kind | None:
    """The dtype class of a result, as far as the table and the arguments tell."""
    if arguments is not None:
        for value in (arguments.keywords.get("dtype"), *arguments.positional):
            if isinstance(value, External) and value.name.startswith("torch."):
                known = DTYPES.get(value.name)
                if known is not None:
                    return known
        if "dtype" in arguments.keywords and arguments.keywords["dtype"] != NONE:
            return None
    if returns.dtype in {"bool", "int", "float"}:
        return returns.dtype
    first = next((t for o in operands for t in tensors_in(o, 1)), None)
    if returns.dtype == "same":
        return first.kind if first is not None else None
    if returns.dtype == "accumulated":
        return "int" if first is not None and first.kind == "bool" else first.kind if first is not None else None
    if returns.dtype == "promoted":
        numbers = [o for o in flat(operands) if isinstance(o, (Tensor, Scalar, Size, Const))]
        return promoted(numbers) if numbers else None
    return None


def named_dtype(arguments: Arguments | None) -> str | None:
    """The name of the dtype that is among the arguments of an operator."""
    for value in () if arguments is None else arguments.values:
        if isinstance(value, External) and value.name in DTYPES:
            return dtype_name(value.name)
    return None


def _note_writes(frame: Frame, api: table.Api, arguments: Arguments, node: ast.AST, receiver: Tensor | None) -> None:
    short = api.name.rpartition(".")[2]
    if short == "requires_grad_":
        return  # a flag, no data
    for written in api.mutates:
        target: Value | None
        if written == "self" and receiver is not None:
            target = receiver
        elif written == "out":
            target = arguments.keywords.get("out")
        else:
            target = arguments.keywords.get(written) or (arguments.get(0) if written in {"self", "input"} else None)
        if isinstance(target, Tensor) and not target.assumed:
            read_data(frame, target, node, short, mutates=True)
            details = {"target": target, "metadata": api.metadata_only, "operands": arguments.values}
            frame.emit(Mutation, node, target, api="out=" if written == "out" else short, **details)
            if target.unplaced and written != "out" and not api.metadata_only:
                note_write(frame, _held(frame, node, target, receiver), arguments.values, None, node)
    if is_in_place(api, arguments):
        note_write_in_place(frame, short, arguments.get(0, "input"), node)


def _held(frame: Frame, node: ast.AST, target: Tensor, receiver: Tensor | None) -> Value:
    """The tensor that a call writes to, or whatever it may be in another way."""
    if not isinstance(node, ast.Call):
        return target
    if receiver is None:
        return frame.peek(node.args[0]) if node.args else target
    return frame.peek(node.func.value) if isinstance(node.func, ast.Attribute) else target


def is_in_place(api: table.Api, arguments: Arguments) -> bool:
    """Whether `inplace=True` makes a function write to its first argument; `dropout` does so in training only."""
    parameters = api.overloads[0].parameters if api.overloads else ()
    if "inplace" not in parameters or api.random:
        return False
    return arguments.get(parameters.index("inplace"), "inplace") == Const(True)


def note_write_in_place(frame: Frame, name: str, target: Value | None, node: ast.AST) -> None:
    """Record that a function or module that is told to be `inplace` writes to its first argument."""
    if isinstance(target, Tensor) and not target.assumed:
        read_data(frame, target, node, name, mutates=True)
        frame.emit(Mutation, node, target, api=f"{name}(inplace=True)", target=target, metadata=False, operands=())
        note_write(frame, target, (), None, node)


def note_creation(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Record that a tensor is made, and on which device if the code names one."""
    device = arguments.keywords.get("device")
    literal = device.value if isinstance(device, Const) and isinstance(device.value, str) else None
    frame.emit(Creation, node, None, api=name, device=literal)


def fresh(frame: Frame, node: ast.AST, name: str, operands: tuple[Value, ...]) -> Tensor:
    """A new tensor of which nothing is known."""
    return result(frame, node, name, flat(operands)).but(assumed=False)


def read_arguments(frame: Frame, arguments: Arguments, node: ast.AST) -> None:
    """Tensors that `.data` gave are read by whatever takes them."""
    for value in arguments.values:
        for tensor in tensors_in(value, 2):
            read_data(frame, tensor, node, "call")


def items_of(value: Value) -> tuple[Value, ...]:
    """The elements of a list or tuple; nothing for anything else."""
    return value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()
