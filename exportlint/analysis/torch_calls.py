"""Calls of torch's functions, by what the torch table says of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from exportlint.analysis import table
from exportlint.analysis.demands import consume, data_of, known_items
from exportlint.analysis.facts import Conversion, Copy, Creation, HostRead, Mutation
from exportlint.analysis.frame import Frame
from exportlint.analysis.parameters import Arguments
from exportlint.analysis.tensors import kind_of, promoted, result
from exportlint.analysis.values import (
    FALSE,
    NONE,
    PYTHON,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    External,
    Function,
    Kind,
    Origin,
    Partial,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Union,
    Unknown,
    Value,
    join,
    options,
    tensors_in,
)

COMPILING = frozenset({
    "torch.compiler.is_compiling", "torch.compiler.is_exporting", "torch._dynamo.is_compiling",
    "torch._utils.is_compiling", "torch.compiler._is_compiling", "torch._dynamo.external_utils.is_compiling",
})  # fmt: skip
NOT_COMPILING = frozenset({
    "torch.jit.is_scripting", "torch.jit.is_tracing", "torch._C._get_tracing_state", "torch.onnx.is_in_onnx_export",
    "torch._jit_internal.is_scripting",
})  # fmt: skip
CALLS_FIRST = frozenset({
    "torch.utils.checkpoint.checkpoint", "torch.cond", "torch._higher_order_ops.cond.cond", "torch.vmap",
    "functorch.vmap", "torch.func.vmap", "torch.compile", "torch.jit.script", "torch._dynamo.disable",
    "torch.compiler.disable", "torch.no_grad", "torch.fx.wrap",
})  # fmt: skip
LITERALS = frozenset({"torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor",
                      "torch.asarray", "torch.IntTensor", "torch.BoolTensor"})  # fmt: skip


def call_torch(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`torch.…(…)`."""
    name = table.resolve(name)
    if name in COMPILING:
        return TRUE
    if name in NOT_COMPILING:
        return FALSE
    if name == "torch.compiler.is_dynamo_compiling":
        return Const(frame.engine.options.mode == "strict")
    if name in CALLS_FIRST:
        return _call_operand(frame, name, arguments, node)
    api = table.lookup(name)
    if api is not None and api.kind == "module":
        return construct(frame, name, arguments)
    if name == "torch.nn.Parameter" or name == "torch.nn.parameter.Parameter":
        return Tensor(Origin.PARAMETER, kind_of(arguments.get(0, "data") or UNKNOWN) or "float")
    if name == "torch.nn.Buffer":
        return Tensor(Origin.BUFFER, kind_of(arguments.get(0, "data") or UNKNOWN))
    if name in LITERALS:
        return _literal(frame, name, arguments, node)
    if name == "torch.is_tensor":
        verdicts = {isinstance(o, Tensor) for o in options(arguments.get(0) or UNKNOWN) if not isinstance(o, Unknown)}
        return Const(verdicts.pop()) if len(verdicts) == 1 else Python("bool")
    if name == "torch.save":
        tensor = next(iter(tensors_in(arguments.get(0) or UNKNOWN)), None)
        if tensor is not None:
            frame.emit(Copy, node, tensor, api=name, operand=tensor)
        return NONE
    if name == "torch.device":
        device = arguments.get(0)
        return device if isinstance(device, Const) else PYTHON
    if api is None or api.kind != "function":
        consume_arguments(frame, arguments.positional, arguments.keywords, node)
        return UNKNOWN if api is None or api.kind == "class" else PYTHON
    return apply(frame, api, arguments, node)


def apply(frame: Frame, api: table.Api, arguments: Arguments, node: ast.AST, receiver: Tensor | None = None) -> Value:
    """The result of a function or method of the table; what it reads and writes is noted."""
    operands = [*([receiver] if receiver is not None else []), *arguments.all()]
    short = api.name if receiver is None else api.name.rpartition(".")[2]
    overload = table.select(
        api, [coarse(v) for v in arguments.positional], {k: coarse(v) for k, v in arguments.keywords.items()}
    )
    _note_writes(frame, api, arguments, node, receiver)
    _note_dims(frame, api, overload, arguments, node)
    reads = overload.reads_data if overload is not None else _always(api, "reads_data")
    read = next((t for o in operands for t in tensors_in(o) if not t.assumed and not t.known), None)
    if reads and read is not None:
        consume(frame, read, node, short)
        frame.emit(HostRead, node, read, api=short, operand=read)
    if api.creates:
        device = arguments.keywords.get("device")
        literal = device.value if isinstance(device, Const) and isinstance(device.value, str) else None
        frame.emit(Creation, node, None, api=short, device=literal)
    dynamic = overload.dynamic_shape if overload is not None else _always(api, "dynamic_shape")
    returns = overload.returns if overload is not None else _common_returns(api)
    return build(frame, node, short, returns, operands, dynamic=dynamic, creates=api.creates, arguments=arguments)


DIMS = frozenset({"dim", "dims", "dim0", "dim1", "axis", "start_dim", "end_dim", "source", "destination"})


def _note_dims(
    frame: Frame, api: table.Api, overload: table.Overload | None, arguments: Arguments, node: ast.AST
) -> None:
    """An operator must know its dimensions; a number read from a tensor is none that torch.export knows."""
    chosen = overload or (api.overloads[0] if api.overloads else None)
    names = chosen.parameters if chosen is not None else ()
    given = [*zip(names, arguments.positional, strict=False), *arguments.keywords.items()]
    for name, value in given:
        if name in DIMS:
            for item in _items(value) or (value,):
                data = data_of(item)
                if isinstance(data, Scalar):
                    frame.emit(Conversion, node, data, target="dim argument", operand=data)


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
    operands: list[Value],
    *,
    dynamic: bool = False,
    creates: bool = False,
    arguments: Arguments | None = None,
) -> Value:
    """A value of the type that the table gives."""
    if returns.kind in {"tensor", "self"}:
        if dynamic or (creates and _sized_by_data(operands)):
            dims = frozenset({0})
        else:
            dims = _kept_dims(name, operands)
        made = result(frame, node, name, _flat(operands), _dtype(returns, operands, arguments), dims)
        made = replace(made, assumed=False)  # whatever went in, an operator of torch gives a tensor
        return made if not returns.optional else Union((made, NONE))
    if returns.kind == "tuple":
        items = tuple(build(frame, node, name, item, operands, dynamic=dynamic) for item in returns.items)
        return Tuple(items, fields=returns.fields)
    if returns.kind == "tensors":
        item = replace(
            result(frame, node, name, _flat(operands), None, frozenset({0}) if dynamic else frozenset()), assumed=False
        )
        return Sequence(item, "tuple")
    for operand in operands:
        for tensor in tensors_in(operand, 1):
            if returns.kind not in {"int", "bool", "size", "dtype", "device", "str", "none"}:
                consume(frame, tensor, node, name)
    if returns.kind == "none":
        return NONE
    return UNKNOWN if returns.kind == "unknown" else Python(returns.kind)


ELEMENTWISE = frozenset({
    "clone", "detach", "contiguous", "float", "long", "int", "bool", "half", "double", "to", "type_as", "abs", "exp",
    "log", "sqrt", "sigmoid", "tanh", "relu", "clamp", "neg", "round", "floor", "ceil", "cpu", "cuda", "sort", "cat",
    "concat", "add", "sub", "mul", "div", "masked_fill", "zeros_like", "ones_like", "empty_like", "full_like", "pow",
    "softmax", "log_softmax", "cumsum", "gelu", "silu", "dropout", "squeeze", "scatter", "logical_not", "ne", "eq",
    "gt", "lt", "ge", "le", "isnan", "argsort", "flip", "layer_norm", "normalize", "square", "sub_", "scatter_",
})  # fmt: skip
"""Operators that keep the sizes of their first tensor, as far as data-dependent dimensions go."""


def _kept_dims(name: str, operands: list[Value]) -> frozenset[int]:
    if name.rpartition(".")[2] not in ELEMENTWISE:
        return frozenset()
    found: frozenset[int] = frozenset()
    for tensor in _flat(operands[:1]):
        if isinstance(tensor, Tensor):
            found |= tensor.dynamic
    return found


def _sized_by_data(operands: list[Value]) -> bool:
    for operand in operands:
        for item in known_items(operand) or (operand,):
            data = data_of(item)
            if isinstance(data, Scalar) or (isinstance(data, Tensor) and data.kind == "int"):
                return True
    return False


def _flat(operands: Iterable[Value]) -> list[Value]:
    """The operands, and the tensors in those that are containers."""
    found: list[Value] = []
    for operand in operands:
        found.append(operand)
        if isinstance(operand, (Tuple, Sequence, Dict, Union)):
            found.extend(tensors_in(operand, 2))
    return found


def _dtype(returns: table.Returns, operands: list[Value], arguments: Arguments | None) -> Kind | None:
    if arguments is not None:
        for value in (arguments.keywords.get("dtype"), *arguments.positional):
            if isinstance(value, External) and value.name.startswith("torch."):
                known = DTYPES.get(value.name)
                if known is not None:
                    return known
        if "dtype" in arguments.keywords and arguments.keywords["dtype"] != NONE:
            return None
    if returns.dtype in {"bool", "int", "float"}:
        return returns.dtype  # type: ignore[return-value]
    first = next((t for o in operands for t in tensors_in(o, 1)), None)
    if returns.dtype == "same":
        return first.kind if first is not None else None
    if returns.dtype == "accumulated":
        return "int" if first is not None and first.kind == "bool" else first.kind if first is not None else None
    if returns.dtype == "promoted":
        return promoted(o for o in operands if isinstance(o, (Tensor, Scalar, Size, Const)))
    return None


DTYPES: dict[str, Kind] = {
    **dict.fromkeys((f"torch.{n}" for n in ("float", "float16", "float32", "float64", "half", "double", "bfloat16")), "float"),
    **dict.fromkeys((f"torch.{n}" for n in ("int", "long", "short", "int8", "int16", "int32", "int64", "uint8")), "int"),
    "torch.bool": "bool",
}  # fmt: skip


def _note_writes(
    frame: Frame, api: table.Api, arguments: Arguments, node: ast.AST, receiver: Tensor | None
) -> None:
    short = api.name.rpartition(".")[2]
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
            label = "out=" if written == "out" else short
            frame.emit(Mutation, node, target, api=label, target=target, metadata=api.metadata_only)


def _literal(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    data = arguments.get(0, "data")
    device = arguments.keywords.get("device")
    literal = device.value if isinstance(device, Const) and isinstance(device.value, str) else None
    frame.emit(Creation, node, None, api=name, device=literal)
    if isinstance(data, Tensor):
        made = result(frame, node, name, (data,), _dtype(table.Returns("tensor", "same"), [data], arguments))
        return replace(made, origin=data.origin if name == "torch.as_tensor" else Origin.FRESH)
    if isinstance(data, (Tuple, Sequence)):
        inner = next((t for t in tensors_in(data) if not t.assumed and t.data is None), None)
        if inner is not None and frame.engine.options.mode == "non-strict":
            frame.emit(Conversion, node, inner, target=f"{name}()", operand=inner)
        scalar = next((s for i in _items(data) for s in options(i) if isinstance(s, Scalar) and not s.assumed), None)
        if scalar is not None and name not in {"torch.tensor", "torch.as_tensor"}:
            frame.emit(Conversion, node, scalar, target=f"{name}()", operand=scalar)
    kind = _dtype(table.Returns("tensor"), [], arguments)
    if kind is None:
        kind = "float" if name in {"torch.Tensor", "torch.FloatTensor"} else "int" if name == "torch.LongTensor" else None
    if kind is None and data is not None:
        kind = promoted(_items(data)) if isinstance(data, Tuple) and data.items else kind_of(data)
    known = isinstance(data, (Const, Python)) and frame.engine.options.mode == "non-strict" and name != "torch.Tensor"
    return Tensor(
        Origin.FRESH, kind, known=known, trail=frame.trail(node, "`{}` is a tensor"),
        dynamic=frozenset({0}) if name in {"torch.Tensor", "torch.FloatTensor"} and isinstance(data, Scalar) else frozenset(),
    )  # fmt: skip


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()


def _call_operand(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Operators and wrappers that call what they are given."""
    from exportlint.analysis.functions import call

    if name.endswith("checkpoint"):
        function, *operands = arguments.positional or [UNKNOWN]
        keywords = {k: v for k, v in arguments.keywords.items() if k not in CHECKPOINT_OPTIONS}
        return call(frame, function, operands, keywords, node)
    if name.endswith("cond"):
        operands = arguments.get(3, "operands") or Tuple(())
        given = list(known_items(operands) or ())
        consume_arguments(frame, arguments.positional, arguments.keywords, node)
        found = [call(frame, f, given, {}, node) for f in (arguments.get(1, "true_fn"), arguments.get(2, "false_fn")) if f]
        return fresh(frame, node, name, arguments.all()) if not found else _as_fresh(frame, node, join(found))
    function = arguments.get(0)
    return Partial(function) if isinstance(function, (Function, Partial, TorchModule)) else function or UNKNOWN


CHECKPOINT_OPTIONS = frozenset({"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"})


def _as_fresh(frame: Frame, node: ast.AST, value: Value) -> Value:
    """A value as an operator gives it: numbers become tensors."""
    if isinstance(value, Tuple):
        return Tuple(tuple(_as_fresh(frame, node, i) for i in value.items))
    return result(frame, node, "cond", (value,)) if not isinstance(value, (Sequence, Dict)) else value


def fresh(frame: Frame, node: ast.AST, name: str, operands: list[Value]) -> Tensor:
    """A new tensor of which nothing is known."""
    return replace(result(frame, node, name, _flat(operands)), assumed=False)


def construct(frame: Frame, name: str, arguments: Arguments) -> Value:
    """An `nn.Module` of torch itself."""
    short = name.rpartition(".")[2]
    named = tuple(arguments.keywords.items())
    if short in {"ModuleList", "Sequential", "ParameterList"}:
        positional = arguments.positional
        if short != "Sequential" or (len(positional) == 1 and isinstance(positional[0], Dict)):
            first = positional[0] if positional else Tuple(())
            if isinstance(first, Dict):
                return TorchModule(name, tuple(v for _, v in first.entries), tuple(k for k, _ in first.entries))
            items = _items(first)
        else:
            items = tuple(i for p in positional for i in ((p.item,) if isinstance(p, Sequence) else (p,)))
        return TorchModule(name, items)
    if short in {"ModuleDict", "ParameterDict"}:
        first = arguments.get(0)
        if isinstance(first, Dict):
            keys = tuple(k for k, _ in first.entries)
            values = tuple(v for _, v in first.entries)
            return TorchModule(name, values if first.rest is None else (*values, first.rest), keys if first.rest is None else ())
        return TorchModule(name, ())
    return TorchModule(name, None, (), named)


def consume_arguments(frame: Frame, positional: list[Value], keywords: dict[str, Value], node: ast.AST) -> None:
    """Tensors that `.data` gave are read by whatever takes them."""
    for value in (*positional, *keywords.values()):
        for tensor in tensors_in(value, 2):
            consume(frame, tensor, node, "call")


def coarse(value: Value) -> str:
    """The coarse type of an argument, as the torch table names it."""
    if isinstance(value, Union):
        found = {coarse(o) for o in value.options} - {"none"}
        return found.pop() if len(found) == 1 else "unknown"
    if isinstance(value, Tensor):
        return "tensor"
    if isinstance(value, Const):
        if value.value is None:
            return "none"
        if isinstance(value.value, bool):
            return "true" if value.value else "false"
        return type(value.value).__name__
    if isinstance(value, Scalar):
        return value.kind or "scalar"
    if isinstance(value, Size):
        return "int"
    if isinstance(value, Shape):
        return "size"
    if isinstance(value, Tuple):
        if value.items and all(isinstance(i, Tensor) for i in value.items):
            return "tensors"
        return "list" if value.mutable else "tuple"
    if isinstance(value, Sequence):
        return "tensors" if isinstance(value.item, Tensor) else "unknown"
    if isinstance(value, Python):
        return value.type if value.type in {"int", "float", "bool", "str", "dtype", "device"} else "unknown"
    if isinstance(value, External) and value.name in DTYPES:
        return "dtype"
    return "unknown"



