"""Methods of tensors."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis import table
from exportlint.analysis.calls.coarse import DTYPES
from exportlint.analysis.calls.literals import make_literal
from exportlint.analysis.calls.results import apply, fresh
from exportlint.analysis.facts import Branch, Conversion, DeviceMove, HostRead
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.demands import consume, size_of
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.tensors import same
from exportlint.analysis.values import (
    PYTHON,
    UNKNOWN,
    Const,
    Kind,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Value,
)

METADATA = frozenset({
    "dim", "ndimension", "nelement", "stride", "is_contiguous", "is_floating_point", "is_complex", "get_device",
    "element_size", "storage_offset", "is_pinned", "is_shared", "type", "is_signed", "is_inference", "is_same_size",
    "untyped_storage", "storage", "new", "new_tensor", "is_set_to", "__len__", "is_sparse", "dense_dim", "sparse_dim",
})  # fmt: skip
"""Methods that do not read the elements, so that they are harmless after `.data` too (measured on 2.13)."""

CASTS: dict[str, Kind] = {
    "float": "float", "half": "float", "double": "float", "bfloat16": "float", "long": "int", "int": "int",
    "short": "int", "byte": "int", "char": "int", "bool": "bool",
}  # fmt: skip

ALIASES = frozenset({
    "view", "reshape", "transpose", "permute", "t", "squeeze", "unsqueeze", "expand", "expand_as", "view_as", "narrow",
    "select", "flatten", "unflatten", "swapaxes", "movedim", "diagonal", "unfold", "contiguous", "detach", "reshape_as",
    "requires_grad_",
})  # fmt: skip
"""Methods whose result can share the storage of the tensor, so that a write to it is a write to the tensor."""


PARTS = frozenset({"chunk", "split", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit"})
"""Methods that give several such tensors."""

KEEPS_SIZES = frozenset({"contiguous", "detach", "requires_grad_", "squeeze", "flatten"})


def call_tensor_method(frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`tensor.name(…)`."""
    if name in {"item", "tolist"}:
        return _read(frame, tensor, name, arguments, node)
    if name == "size":
        return _size(tensor, arguments)
    if name in {"numel", "nelement"}:
        return Scalar("int", "size", tensor.assumed, tensor.trail) if tensor.dynamic else size_of(replace(tensor), 0)
    if name == "is_nonzero":
        if not tensor.assumed:
            consume(frame, tensor, node, name)
            frame.emit(Branch, node, tensor, construct="is_nonzero", condition=tensor)
        return Python("bool")
    if name == "type" and arguments.values:
        return fresh(frame, node, name, (tensor,))
    if name == "new_tensor":
        return make_literal(frame, name, arguments, node)
    if name in {"storage", "untyped_storage"}:
        return tensor  # its `data_ptr` is the tensor's
    if name in METADATA:
        return PYTHON if name != "new" else Tensor()
    if name in CASTS:
        consume(frame, tensor, node, name)
        return same(tensor, kind=CASTS[name])
    if name in {"cuda", "to", "cpu"}:
        return _move(frame, tensor, name, arguments, node)
    if name in {"share_memory_", "pin_memory"} and not tensor.assumed:
        frame.emit(HostRead, node, tensor, api=name, operand=tensor)
    api = table.tensor_member(name)
    if api is None or api.kind != "method":
        return UNKNOWN
    value = apply(frame, api, arguments, node, tensor)
    if name.endswith("_") and not name.endswith("__"):
        return replace(tensor, data=None, known=False)
    if isinstance(value, Tensor) and name in ALIASES:
        kept = tensor.dynamic if name in KEEPS_SIZES else value.dynamic
        return replace(value, origin=tensor.origin, dynamic=kept, trail=tensor.trail)
    if isinstance(value, Sequence) and isinstance(value.item, Tensor) and name in PARTS:
        return replace(value, item=replace(value.item, origin=tensor.origin, trail=tensor.trail))
    return value


def _read(frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:

    consume(frame, tensor, node, name)
    if tensor.known or frame.engine.eager:
        return Python(tensor.kind) if name == "item" else Sequence(Python(tensor.kind))
    if not tensor.assumed:
        frame.emit(HostRead, node, tensor, api=name, operand=tensor)
    if name == "tolist" and 0 in tensor.dynamic:
        frame.emit(Conversion, node, tensor, target="tolist()", operand=tensor)
    # most tensors hold floats, but numbers that are passed in as a tensor or become a list are mostly counts
    kind = tensor.kind or (None if tensor.origin is Origin.INPUT or name == "tolist" else "float")
    scalar = Scalar(kind, name, tensor.assumed, tensor.trail)
    return scalar if name == "item" else Sequence(scalar)


def _size(tensor: Tensor, arguments: Arguments) -> Value:
    if not arguments.values:
        return Shape(tensor)
    dim = arguments.get(0, "dim")
    return size_of(tensor, dim.value if isinstance(dim, Const) and isinstance(dim.value, int) else -1)


def _move(frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:

    consume(frame, tensor, node, name)
    device: object = "cuda" if name == "cuda" else "cpu" if name == "cpu" else None
    kind = tensor.kind
    for value in arguments.values:
        if isinstance(value, Const) and isinstance(value.value, str):
            device = value.value
        elif isinstance(value, Tensor) and name == "to":
            kind = value.kind
        dtype = getattr(value, "name", None)
        if isinstance(dtype, str) and dtype in DTYPES:
            kind = DTYPES[dtype]
    if isinstance(device, str) and not tensor.assumed and not frame.accelerated:
        frame.emit(DeviceMove, node, tensor, api=name, device=device, operand=tensor)
    return same(tensor, kind=kind)
