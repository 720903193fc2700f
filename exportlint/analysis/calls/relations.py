"""What the result of an operator has to do with the tensor it was made of: storage, dtype, rank.

Only looked at in the functions that operators run (`torch.cond`'s branches), which may not return what they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from exportlint.analysis import table
from exportlint.analysis.forms import Form, combined
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.tensors import elementwise
from exportlint.analysis.values import (
    TRUE,
    Const,
    External,
    Origin,
    Sequence,
    Tensor,
    Tuple,
    Value,
)

VIEWS = frozenset({
    "view", "view_as", "transpose", "permute", "t", "adjoint", "squeeze", "unsqueeze", "expand", "expand_as", "narrow",
    "select", "unflatten", "swapaxes", "swapdims", "movedim", "moveaxis", "diagonal", "unfold", "detach", "as_strided",
    "broadcast_to", "chunk", "split", "split_with_sizes", "tensor_split", "unbind", "hsplit", "vsplit", "dsplit",
})  # fmt: skip
"""Operators whose result always shares the storage of the first tensor."""

VIEWS_OF_CONTIGUOUS = frozenset({"reshape", "reshape_as", "flatten", "ravel", "contiguous"})
"""Operators whose result shares the storage of a contiguous tensor, which the inputs of a module are."""

UNARY = frozenset({
    "abs", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "sigmoid", "relu", "gelu", "silu", "neg",
    "clone", "detach", "contiguous", "clamp", "clamp_min", "clamp_max", "round", "floor", "ceil", "square", "softmax",
    "log_softmax", "cumsum", "dropout", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like",
    "randn_like", "t", "adjoint", "transpose", "permute", "flip", "roll", "masked_fill", "reciprocal", "sign",
})  # fmt: skip
"""Operators that keep the rank of their first tensor, and its dtype if they make no floats of integers."""

BINARY = frozenset({
    "add", "sub", "mul", "div", "true_divide", "maximum", "minimum", "pow", "remainder", "fmod", "gt", "lt", "ge",
    "le", "eq", "ne",
})  # fmt: skip

REDUCTIONS = frozenset({
    "sum", "mean", "prod", "max", "min", "amax", "amin", "argmax", "argmin", "any", "all", "std", "var", "norm",
    "median", "logsumexp",
})  # fmt: skip


def related(frame: Frame, api: table.Api, receiver: Tensor | None, arguments: Arguments, result: Value) -> Value:
    """The result of an API of torch, told whose storage it has and how it compares to the operand it is made of."""
    if not frame.engine.region:
        return result
    first = receiver if receiver is not None else arguments.get(0, "input")
    rest = arguments.positional if receiver is not None else arguments.positional[1:]
    short = api.name.rpartition(".")[2]
    form = _form(short, first, rest, arguments)
    is_view = isinstance(first, Tensor) and _is_view(api, short, first)

    def relate(tensor: Tensor) -> Tensor:
        made = replace(tensor, form=_typed(form, first, tensor, arguments))
        return replace(made, region=first.region) if is_view and isinstance(first, Tensor) else made

    return _on_tensors(result, relate)


def _on_tensors(value: Value, function: Callable[[Tensor], Tensor]) -> Value:
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_on_tensors(item, function) for item in value.items))
    if isinstance(value, Sequence):
        return replace(value, item=_on_tensors(value.item, function))
    return value


def _is_view(api: table.Api, short: str, tensor: Tensor) -> bool:
    if api.name.startswith("torch.nn."):
        return False
    is_input = tensor.origin is Origin.INPUT and bool(tensor.name)
    return short in VIEWS or (short in VIEWS_OF_CONTIGUOUS and is_input)


def _form(short: str, first: Value | None, rest: tuple[Value, ...], arguments: Arguments) -> Form | None:
    if short in {"cat", "concat", "stack"}:
        tensors = first.items if isinstance(first, Tuple) else ()
        forms = [item.form if isinstance(item, Tensor) else None for item in tensors]
        joined = combined(forms, keeps_dtype=True) if len(forms) > 1 else None
        if joined is None or joined != forms[0]:
            return None
        return joined.deeper(1) if short == "stack" else joined.resize()
    form = first.form if isinstance(first, Tensor) else None
    if form is None:
        return None
    if short in BINARY:
        return elementwise((first, *rest)) if first is not None else None
    if short in UNARY:
        return form.computed(keeps_dtype=True)
    if short in REDUCTIONS:
        return _reduced(form, rest, arguments)
    if short in {"flatten", "ravel"} and not rest and not arguments.keywords:
        return form.collapse(1)
    if short in {"view", "reshape"} and rest == (Const(-1),):
        return form.collapse(1)
    return form.deeper(1) if short == "unsqueeze" else None


def _reduced(form: Form, rest: tuple[Value, ...], arguments: Arguments) -> Form | None:
    dim = rest[0] if rest else arguments.keywords.get("dim") or arguments.keywords.get("axis")
    if dim is None:
        return form.collapse(0)
    if not isinstance(dim, Const) or not isinstance(dim.value, int):
        return None
    keeps = rest[1] if len(rest) > 1 else arguments.keywords.get("keepdim")
    return form.deeper(-1) if keeps is None else form.resize() if keeps == TRUE else None


def _typed(form: Form | None, first: Value | None, tensor: Tensor, arguments: Arguments) -> Form | None:
    """The form with the dtype that the result has."""
    if form is None:
        return None
    dtype = arguments.keywords.get("dtype")
    if isinstance(dtype, External):
        return replace(form, dtype=dtype_name(dtype.name))
    same = isinstance(first, Tensor) and first.kind == tensor.kind
    return form if same else replace(form, dtype="bool" if tensor.kind == "bool" else None)


def dtype_name(name: str) -> str:
    """`float64` for `torch.double`."""
    short = name.removeprefix("torch.")
    return ALIASES.get(short, short)


ALIASES = {
    "double": "float64", "float": "float32", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "byte": "uint8", "char": "int8",
}  # fmt: skip
