"""Results of operators of torch, by what the torch table says of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from exportlint.analysis import table
from exportlint.analysis.calls.coarse import DTYPES, coarse
from exportlint.analysis.facts import Conversion, Creation, HostRead, Mutation
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.demands import consume, data_of
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.tensors import promoted, result
from exportlint.analysis.joins import tensors_in
from exportlint.analysis.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
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


def apply(frame: Frame, api: table.Api, arguments: Arguments, node: ast.AST, receiver: Tensor | None = None) -> Value:
    """The result of a function or method of the table; what it reads and writes is noted."""
    operands = (*([receiver] if receiver is not None else []), *arguments.values)
    short = api.name if receiver is None else api.name.rpartition(".")[2]
    overload = table.select(
        api, [coarse(v) for v in arguments.positional], {k: coarse(v) for k, v in arguments.keywords.items()}
    )
    _note_writes(frame, api, arguments, node, receiver)
    _note_dims(frame, overload, arguments, node)
    reads = overload.reads_data if overload is not None else _always(api, "reads_data")
    of_known = short.rpartition(".")[2] in {"numpy", "data_ptr"}
    read = next((t for o in operands for t in tensors_in(o) if not t.assumed and (of_known or not t.known)), None)
    if reads and read is not None:
        consume(frame, read, node, short)
        frame.emit(HostRead, node, read, api=short, operand=read)
    if api.creates:
        note_creation(frame, short, arguments, node)
    dynamic = overload.dynamic_shape if overload is not None else _always(api, "dynamic_shape")
    returns = overload.returns if overload is not None else _common_returns(api)
    return build(frame, node, short, returns, operands, dynamic=dynamic, creates=api.creates, arguments=arguments)


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
        dims = _selected_dim(name, arguments) if dynamic else _data_dims(name, arguments) if creates else frozenset()
        dims = dims or _kept_dims(name, operands)
        made = result(frame, node, name, flat(operands), dtype_of(returns, operands, arguments), dims)
        # whatever went in, an operator of torch gives a tensor
        made = replace(made, assumed=False, zero_dim=_reduces_all(name, arguments))
        return made if not returns.optional else Union((made, NONE))
    if returns.kind == "tuple":
        items = tuple(build(frame, node, name, item, operands, dynamic=dynamic) for item in returns.items)
        return Tuple(items, fields=returns.fields)
    if returns.kind == "tensors":
        item = replace(
            result(frame, node, name, flat(operands), None, frozenset({0}) if dynamic else frozenset()), assumed=False
        )
        return Sequence(item, "tuple")
    for operand in operands:
        for tensor in tensors_in(operand, 1):
            if returns.kind not in {"int", "bool", "size", "dtype", "device", "str", "none"}:
                consume(frame, tensor, node, name)
    if returns.kind == "none":
        return NONE
    return UNKNOWN if returns.kind == "unknown" else Python(returns.kind)


REDUCTIONS = frozenset({"sum", "mean", "max", "min", "argmax", "argmin", "any", "all", "prod", "median", "std", "var"})


def _reduces_all(name: str, arguments: Arguments | None) -> bool:
    """`x.argmax()`, `torch.sum(x)`: a reduction without a dimension."""
    library, _, short = name.rpartition(".")
    given = 1 if library else 0
    return short in REDUCTIONS and arguments is not None and len(arguments.values) == given


ELEMENTWISE = frozenset({
    "clone", "detach", "contiguous", "float", "long", "int", "bool", "half", "double", "to", "type_as", "abs",
    "exp", "log", "sqrt", "sigmoid", "tanh", "relu", "clamp", "neg", "round", "floor", "ceil", "cpu", "cuda",
    "sort", "cat", "concat", "add", "sub", "mul", "div", "masked_fill", "zeros_like", "ones_like", "empty_like",
    "full_like", "softmax", "log_softmax", "cumsum", "gelu", "silu", "dropout", "squeeze", "flatten", "ravel",
    "scatter", "ne", "eq", "logical_not", "pow", "gt", "lt", "ge", "le", "isnan", "argsort", "flip", "layer_norm",
    "normalize", "square", "sub_", "scatter_",
})  # fmt: skip
"""Operators that keep the sizes of their first tensor, as far as data-dependent dimensions go."""


def _kept_dims(name: str, operands: tuple[Value, ...]) -> frozenset[int]:
    if name.rpartition(".")[2] not in ELEMENTWISE:
        return frozenset()
    found: frozenset[int] = frozenset()
    for tensor in flat(operands[:1]):
        if isinstance(tensor, Tensor):
            found |= tensor.dynamic
    return found


def _selected_dim(name: str, arguments: Arguments | None) -> frozenset[int]:
    """The dimension that an operator with a data-dependent result makes: `dim` where it takes one, else the first."""
    library, _, short = name.rpartition(".")
    if arguments is not None and short in {"repeat_interleave", "unique", "unique_consecutive"}:
        place = (2 if library else 1) if short == "repeat_interleave" else -1
        dim = arguments.keywords.get("dim") or (arguments.get(place) if place > 0 else None)
        if isinstance(dim, Const) and isinstance(dim.value, int):
            return frozenset({dim.value}) if dim.value >= 0 else frozenset()
    return frozenset({0})


def _data_dims(name: str, arguments: Arguments | None) -> frozenset[int]:
    """The dimensions of a new tensor whose sizes come out of tensors: 1 of `torch.zeros(3, n.item())`."""
    short = name.rpartition(".")[2]
    if arguments is None or short.endswith("_like"):
        return frozenset()
    sizes = arguments.get(0, "size")
    given = arguments.positional
    if isinstance(sizes, Tuple):
        given = sizes.items
    elif short in {"full", "new_full"}:
        given = given[:1]
    found = frozenset(dim for dim, item in enumerate(given) if _is_data(item))
    return frozenset({0}) if found and short in {"arange", "linspace"} else found


def _is_data(value: Value) -> bool:
    data = data_of(value)
    return isinstance(data, Scalar) or (isinstance(data, Tensor) and data.kind == "int")


def flat(operands: Iterable[Value]) -> list[Value]:
    """The operands, and the tensors in those that are containers."""
    found: list[Value] = []
    for operand in operands:
        found.append(operand)
        if isinstance(operand, (Tuple, Sequence, Dict, Union)):
            found.extend(tensors_in(operand, 2))
    return found


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
        return promoted([o for o in flat(operands) if isinstance(o, (Tensor, Scalar, Size, Const))] or [UNKNOWN])
    return None


DIMS = frozenset({"dim", "dims", "dim0", "dim1", "axis", "start_dim", "end_dim", "source", "destination"})


def _note_dims(frame: Frame, overload: table.Overload | None, arguments: Arguments, node: ast.AST) -> None:
    """An operator must know its dimensions; a number read from a tensor is none that torch.export knows."""
    names = overload.parameters if overload is not None else ()
    given = [*zip(names, arguments.positional, strict=False), *arguments.keywords.items()]
    for name, value in given:
        if name in DIMS:
            for item in items_of(value) or (value,):
                data = data_of(item)
                if isinstance(data, Scalar):
                    frame.emit(Conversion, node, data, target="dim argument", operand=data)


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
            consume(frame, target, node, short, mutates=True)
            details = {"target": target, "metadata": api.metadata_only, "operands": arguments.values}
            frame.emit(Mutation, node, target, api="out=" if written == "out" else short, **details)


def note_creation(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Record that a tensor is made, and on which device if the code names one."""
    device = arguments.keywords.get("device")
    literal = device.value if isinstance(device, Const) and isinstance(device.value, str) else None
    frame.emit(Creation, node, None, api=name, device=literal)


def fresh(frame: Frame, node: ast.AST, name: str, operands: tuple[Value, ...]) -> Tensor:
    """A new tensor of which nothing is known."""
    return replace(result(frame, node, name, flat(operands)), assumed=False)


def consume_arguments(frame: Frame, arguments: Arguments, node: ast.AST) -> None:
    """Tensors that `.data` gave are read by whatever takes them."""
    for value in arguments.values:
        for tensor in tensors_in(value, 2):
            consume(frame, tensor, node, "call")


def items_of(value: Value) -> tuple[Value, ...]:
    """The elements of a list or tuple; nothing for anything else."""
    return value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()
