"""Methods of tensors."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis import table
from exportlint.analysis.baked import Source
from exportlint.analysis.calls.coarse import DTYPES
from exportlint.analysis.calls.literals import make_literal
from exportlint.analysis.calls.relations import dtype_name, related
from exportlint.analysis.calls.results import apply, fresh
from exportlint.analysis.facts import Branch, Conversion, DeviceMove, HostRead
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.baked import metadata
from exportlint.analysis.interpreter.demands import consume, size_of
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.gradients import note_grad_flag
from exportlint.analysis.interpreter.instances import note_call
from exportlint.analysis.interpreter.recording import note_tensor_write
from exportlint.analysis.interpreter.sizes import product
from exportlint.analysis.interpreter.tensors import same
from exportlint.analysis.values import (
    PYTHON,
    TRUE,
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
    "dim", "ndimension", "nelement", "get_device", "is_pinned", "is_shared", "type", "is_signed", "is_inference",
    "is_same_size", "untyped_storage", "storage", "new", "new_tensor", "is_set_to", "__len__", "is_sparse", "dense_dim",
    "sparse_dim",
})  # fmt: skip
"""Methods that do not read the elements, so that they are harmless after `.data` too (measured on 2.13)."""

ASKED: dict[str, tuple[Source, str]] = {
    "stride": ("layout", "strides"),
    "storage_offset": ("layout", "storage offset"),
    "is_contiguous": ("layout", "contiguity"),
    "is_floating_point": ("dtype", "dtype"),
    "is_complex": ("dtype", "dtype"),
    "element_size": ("dtype", "dtype"),
}

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


BESIDES = frozenset({
    "backward", "retain_grad", "register_hook", "register_post_accumulate_grad_hook", "to_mkldnn", "apply_", "map_",
    "as_subclass",
})  # fmt: skip
"""Methods that do something else than to compute a tensor: they are calls of their own."""
UNTRACED = frozenset({
    "storage_offset", "is_pinned", "is_shared", "dense_dim", "is_same_size", "is_set_to",
    "__reduce_ex__", "__repr__", "__str__", "__format__", "__hash__",
})  # fmt: skip
"""Methods that give something else than tensors and numbers, which TorchDynamo does not call."""
PARTS = frozenset({"chunk", "split", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit"})
"""Methods that give several such tensors."""
OVERWRITES = frozenset({"copy_", "zero_", "fill_", "requires_grad_", "set_", "share_memory_", "detach_"})
"""Methods that do the same when they are called twice, whatever the tensor held."""

KEEPS_SIZES = frozenset({"contiguous", "detach", "requires_grad_", "squeeze", "flatten"})


def call_tensor_method(frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`tensor.name(…)`."""
    if name in UNTRACED and not tensor.assumed:
        note_call(frame, f"torch.Tensor.{name}", arguments.after(tensor), node)
    if name in {"item", "tolist"}:
        return _read(frame, tensor, name, arguments, node)
    if name == "size":
        return _size(tensor, arguments)
    if name in {"numel", "nelement"}:
        return Scalar("int", "size", tensor.assumed, tensor.trail) if tensor.dynamic else product(tensor)
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
    if name in ASKED:
        return metadata(frame, tensor, *ASKED[name], node)
    if name in METADATA:
        return PYTHON if name != "new" else Tensor(region=frame.engine.region)
    if name in CASTS:
        consume(frame, tensor, node, name)
        return _cast(frame, tensor, CASTS[name], dtype_name(name))
    if name in {"cuda", "to", "cpu"}:
        return _move(frame, tensor, name, arguments, node)
    if name in {"share_memory_", "pin_memory"} and not tensor.assumed:
        frame.emit(HostRead, node, tensor, api=name, operand=tensor)
    if name == "requires_grad_" and not tensor.assumed:
        note_grad_flag(frame, tensor, "requires_grad_()", arguments.get(0, "requires_grad") or TRUE, node)
    if name in BESIDES and not tensor.assumed:
        note_call(frame, f"torch.Tensor.{name}", arguments.after(tensor), node)
    if name == "as_subclass":
        return tensor
    api = table.tensor_member(name)
    if api is None or api.kind != "method":
        return UNKNOWN
    if name == "numpy" and frame.engine.mode == "strict":
        apply(frame, api, arguments, node, tensor)
        return Python("ndarray")
    value = related(frame, api, tensor, arguments, apply(frame, api, arguments, node, tensor))
    if name.endswith("_") and not name.endswith("__"):
        if name not in OVERWRITES and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            note_tensor_write(frame, node.func.value, node, tensor, arguments.values)
        return replace(tensor, data=None, known=False)
    if isinstance(value, Tensor) and name in ALIASES:
        kept = tensor.dynamic if name in KEEPS_SIZES else value.dynamic
        is_detached = name == "detach"
        return replace(value, origin=tensor.origin, dynamic=kept, detached=is_detached, trail=tensor.trail)
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
    kind, exact = tensor.kind, None
    for value in arguments.values:
        if isinstance(value, Const) and isinstance(value.value, str):
            device = value.value
        elif isinstance(value, Tensor) and name == "to":
            kind = value.kind
        dtype = getattr(value, "name", None)
        if isinstance(dtype, str) and dtype in DTYPES:
            kind, exact = DTYPES[dtype], dtype_name(dtype)
    if isinstance(device, str) and not tensor.assumed and not frame.accelerated:
        frame.emit(DeviceMove, node, tensor, api=name, device=device, operand=tensor)
    return _cast(frame, tensor, kind, exact)


def _cast(frame: Frame, tensor: Tensor, kind: Kind | None, dtype: str | None) -> Tensor:
    """The tensor in another dtype: itself if it has that dtype already."""
    return same(frame, tensor, kind=kind, form=tensor.form and tensor.form.converted(dtype))
