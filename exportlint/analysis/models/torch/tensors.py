"""Operators of torch on a tensor: `torch.sum(x)`, `x.sum()` and `torch.Tensor.sum(x)` are one."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from exportlint.analysis.domain.immutable import immutable
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Const,
    External,
    Kind,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TypeOf,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import metadata
from exportlint.analysis.eval.demands import is_constant, read_data, size_of
from exportlint.analysis.eval.frame import Frame, calls
from exportlint.analysis.eval.gradients import is_unplaced, note_grad_flag, written
from exportlint.analysis.eval.instances import note_call
from exportlint.analysis.eval.sizes import any_size, product, read_at
from exportlint.analysis.eval.special_methods import SPECIAL, TEXTS, call_special
from exportlint.analysis.eval.state_access import ACCUMULATED, RESULT, note_made_tensor_write, note_tensor_write
from exportlint.analysis.eval.tensor_results import same
from exportlint.analysis.facts import Branch, Conversion, DeviceMove, HostRead
from exportlint.analysis.facts.tracing import ClassText
from exportlint.analysis.models.torch.result_storage import related
from exportlint.analysis.models.torch.results import apply, fresh, is_in_place, read_arguments
from exportlint.analysis.models.torch.tensor_literals import make_literal
from exportlint.analysis.torch import table
from exportlint.analysis.torch.dtypes import DTYPES, dtype_name
from exportlint.analysis.torch.operator import Operator
from exportlint.analysis.torch.registry import find


@immutable
class Call:
    """A call of an operator on a tensor; `arguments` are the others. `name` is how facts name the operator."""

    record: Operator
    tensor: Tensor
    arguments: Arguments
    name: str


Handler = Callable[[Frame, Call, ast.AST], Value | None]
_HANDLERS: dict[str, Handler] = {}
UNTRACED = frozenset({
    "storage_offset", "is_pinned", "is_shared", "dense_dim", "is_same_size", "is_set_to", "is_inference", "storage",
    *TEXTS,
})  # fmt: skip
"""Methods that give something other than tensors and numbers, which TorchDynamo does not call."""


def performs(*names: str) -> Callable[[Handler], Handler]:
    """Registers a function as what operators do, by the names of their records; None leaves it to the table."""

    def register(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


def call_tensor_method(frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`tensor.name(…)`."""
    if name in UNTRACED and not tensor.assumed:
        note_call(frame, f"torch.Tensor.{name}", arguments.after(tensor), node)
    elif name == "type" and not tensor.assumed:
        kind = arguments.get(0, "dtype")
        if kind == External("torch.Tensor") or isinstance(kind, TypeOf):
            note_call(frame, "torch.Tensor.type", Arguments((kind,)), node)
    if name in SPECIAL and isinstance(node, ast.Call):
        return call_special(frame, tensor, name, arguments, node)
    api = table.tensor_member(name)
    if api is None and tensor.array:
        return replace(fresh(frame, node, name, (tensor,)), array=True)
    if api is None or api.kind != "method":
        return UNKNOWN
    call = Call(find(api.name), tensor, arguments, name)
    found = _performed(frame, call, node)
    if found is not None:
        return found
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    value = related(frame, api, tensor, arguments, apply(frame, api, arguments, node, tensor))
    return _in_memory(frame, api, call, value, owner, node)


@calls(TypeOf)
def _call_class_of(frame: Frame, callee: TypeOf, arguments: Arguments, node: ast.AST) -> Value:
    """`type(x)(y)`: non-strict export finds the class of fake tensors there."""
    read_arguments(frame, arguments, node)
    text, _, method = callee.attribute.partition(".")
    if method:
        frame.emit(ClassText, node, callee.tensor, text=text, operation=f".{method}()")
    if not callee.attribute:
        note_call(frame, "torch.Tensor.__new__", arguments, node)
    return UNKNOWN


def call_function(frame: Frame, api: table.Api, arguments: Arguments, node: ast.AST) -> Value:
    """`torch.name(tensor, …)`."""
    first = api.overloads[0].parameters[:1] if api.overloads else ()
    tensor = arguments.get(0, first[0] if first else "")
    call = None
    if isinstance(tensor, Tensor):
        keywords = {
            name: value for name, value in arguments.keywords.items() if arguments.positional or name not in first
        }
        call = Call(find(api.name), tensor, Arguments(arguments.positional[1:], keywords), api.name)
        found = _performed(frame, call, node)
        if found is not None:
            return found
    value = related(frame, api, None, arguments, apply(frame, api, arguments, node))
    _note_out(frame, arguments, node)
    if call is None:
        return value
    owner = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return _in_memory(frame, api, call, value, owner, node)


def _note_out(frame: Frame, arguments: Arguments, node: ast.AST) -> None:
    """Record that a function writes its result to `out=self.cache`."""
    out = next((o for o in options(arguments.keywords.get("out") or NONE) if isinstance(o, Tensor)), None)
    keywords = node.keywords if isinstance(node, ast.Call) else ()
    owner = next((keyword.value for keyword in keywords if keyword.arg == "out"), None)
    if out is not None and owner is not None and isinstance(node, ast.Call):
        text = ast.dump(owner)
        accumulates = any(ast.dump(argument) == text for argument in node.args)
        operands = (*arguments.positional, *(value for name, value in arguments.keywords.items() if name != "out"))
        note_made_tensor_write(frame, owner, node, out, operands, ACCUMULATED if accumulates else RESULT)


def _performed(frame: Frame, call: Call, node: ast.AST) -> Value | None:
    """What the record of an operator says of its result, where that is not a new tensor."""
    record, tensor = call.record, call.tensor
    if record.tells is not None:
        return metadata(frame, tensor, *record.tells, node)
    if record.dtype and record.converts:
        read_data(frame, tensor, node, call.name)
        return _cast(frame, tensor, DTYPES[f"torch.{record.dtype}"], record.dtype)
    if record.acts and not tensor.assumed:
        note_call(frame, f"torch.Tensor.{call.name}", call.arguments.after(tensor), node)
    handler = _HANDLERS.get(record.name)
    return handler(frame, call, node) if handler is not None else None


def _in_memory(frame: Frame, api: table.Api, call: Call, value: Value, owner: ast.expr | None, node: ast.AST) -> Value:
    """The result of an operator, told to be what it was called on, or in its memory."""
    record, tensor = call.record, call.tensor
    is_self = any(overload.returns.kind == "self" for overload in api.overloads)
    if is_self or is_in_place(api, call.arguments.after(tensor)):
        if record.runs_on_constants and owner is not None:
            note_tensor_write(frame, owner, node, tensor, call.arguments.values)
        if owner is not None:
            note_made_tensor_write(frame, owner, node, tensor, call.arguments.values, call.name)
        if record.name == "detach_":
            return tensor.but(data=None, known=False, requires_grad=False)
        made = written(tensor, call.arguments.values, frame)
        if made is not tensor and isinstance(owner, ast.Name) and frame.env.get(owner.id) == tensor:
            frame.env[owner.id] = made
        return made.but(data=None, known=False)
    if tensor.detached and record.name == "clone" and isinstance(value, Tensor):
        return value.but(detached=True)
    if record.storage not in {"view", "contiguous"}:
        return value
    if isinstance(value, Tensor):
        is_detached = record.name == "detach"
        is_compacted = record.name == "Tensor.contiguous" and tensor.origin is Origin.INPUT and bool(tensor.name)
        return value.but(
            origin=tensor.origin,
            detached=is_detached,
            untraced_backward=value.untraced_backward and not is_detached,
            requires_grad=value.requires_grad and not is_detached,
            unplaced=record.storage == "view" and (tensor.unplaced or _is_unplaced(record, call)),
            compacted=is_compacted,
            name=tensor.name if is_compacted else value.name,
            trail=tensor.trail,
        )
    if isinstance(value, Sequence) and isinstance(value.item, Tensor):
        return replace(value, item=replace(value.item, origin=tensor.origin, trail=tensor.trail))
    return value


def _is_unplaced(record: Operator, call: Call) -> bool:
    """Whether `x.select(0, n)` or `x.narrow(0, n, 2)` is at an index whose sign torch.export does not know."""
    start = call.arguments.get(1, "index" if record.name == "select" else "start")
    is_fixed = record.name == "select" or isinstance(call.arguments.get(2, "length"), Const)
    return record.name in {"select", "narrow"} and is_fixed and isinstance(start, Scalar) and is_unplaced(start)


@performs("Tensor.item", "Tensor.tolist")
def _read(frame: Frame, call: Call, node: ast.AST) -> Value:
    tensor, name = call.tensor, call.name
    read_data(frame, tensor, node, name)
    if tensor.known or is_constant(tensor) or frame.engine.constructing:
        return Python(tensor.kind) if name == "item" else Sequence(Python(tensor.kind))
    if not tensor.assumed:
        frame.emit(HostRead, node, tensor, api=name, operand=tensor)
    if name == "tolist" and 0 in tensor.dynamic:
        frame.emit(Conversion, node, tensor, target="tolist()", operand=tensor)
    # most tensors hold floats, but numbers that are passed in as a tensor or become a list are mostly counts
    kind = tensor.kind or (None if tensor.origin is Origin.INPUT or name == "tolist" else "float")
    dim = read_at(frame, node, lowest=None) if kind != "bool" and name == "item" else None
    scalar = Scalar(kind, name, tensor.assumed, tensor.trail, dim, unbounded=True)
    return scalar if name == "item" else Sequence(scalar)


@performs("Tensor.size")
def _size(frame: Frame, call: Call, node: ast.AST) -> Value:
    if not call.arguments.values:
        return Shape(call.tensor)
    dim = call.arguments.get(0, "dim")
    if isinstance(dim, Const) and isinstance(dim.value, int):
        return size_of(call.tensor, dim.value)
    return Size(any_size(call.tensor), trail=call.tensor.trail)


@performs("Tensor.as_subclass")
def _as_subclass(frame: Frame, call: Call, node: ast.AST) -> Value:
    return call.tensor


@performs("Tensor.numpy")
def _array(frame: Frame, call: Call, node: ast.AST) -> Value | None:
    if frame.engine.mode != "strict":
        return None
    made = fresh(frame, node, call.name, (call.tensor,))  # TorchDynamo traces what numpy does with it
    return replace(made, array=True)


@performs("Tensor.__len__")
def _length(frame: Frame, call: Call, node: ast.AST) -> Value:
    return size_of(call.tensor, 0)


@performs("numel")
def _count(frame: Frame, call: Call, node: ast.AST) -> Value:
    tensor = call.tensor
    count = product(tensor)
    return Scalar("int", "size", tensor.assumed, tensor.trail, count.dim) if tensor.dynamic else count


@performs("is_nonzero")
def _test(frame: Frame, call: Call, node: ast.AST) -> Value:
    if not call.tensor.assumed:
        read_data(frame, call.tensor, node, call.name)
        frame.emit(Branch, node, call.tensor, construct="is_nonzero", condition=call.tensor)
    return Python("bool")


@performs("Tensor.type")
def _type(frame: Frame, call: Call, node: ast.AST) -> Value | None:
    return fresh(frame, node, call.name, (call.tensor,)) if call.arguments.values else None


@performs("Tensor.new")
def _new(frame: Frame, call: Call, node: ast.AST) -> Value | None:
    if call.tensor.data is None:
        return None
    # it takes the dtype and the device of `x.data`; no operator of the graph has the tensor as an operand
    return call_tensor_method(frame, replace(call.tensor, data=None), call.name, call.arguments, node)


@performs("Tensor.new_tensor")
def _new_tensor(frame: Frame, call: Call, node: ast.AST) -> Value:
    return make_literal(frame, call.name, call.arguments, node)


@performs("Tensor.storage", "Tensor.untyped_storage")
def _storage(frame: Frame, call: Call, node: ast.AST) -> Value:
    return call.tensor  # its `data_ptr` is the tensor's


@performs("Tensor.requires_grad_")
def _set_flag(frame: Frame, call: Call, node: ast.AST) -> None:
    if not call.tensor.assumed:
        flag = call.arguments.get(0, "requires_grad") or TRUE
        note_grad_flag(frame, call.tensor, "requires_grad_()", flag, node)


@performs("Tensor.cuda", "Tensor.to", "Tensor.cpu")
def _move(frame: Frame, call: Call, node: ast.AST) -> Value:
    tensor, name = call.tensor, call.name
    read_data(frame, tensor, node, name)
    device: object = "cuda" if name == "cuda" else "cpu" if name == "cpu" else None
    kind, exact = tensor.kind, None
    for value in call.arguments.values:
        if isinstance(value, Const) and isinstance(value.value, str):
            device = value.value
        elif isinstance(value, Tensor) and name == "to":
            kind = value.kind
        dtype = getattr(value, "name", None)
        if isinstance(dtype, str) and dtype in DTYPES:
            kind, exact = DTYPES[dtype], dtype_name(dtype)
    if isinstance(device, str) and not tensor.assumed and not frame.on_accelerator:
        frame.emit(DeviceMove, node, tensor, api=name, device=device, operand=tensor)
    made = _cast(frame, tensor, kind, exact)
    if made.requires_grad and not all(map(_says_dtype, call.arguments.values)):
        made = made.but(requires_grad=False)
    is_cast = any(not isinstance(value, Const) and value != Python("device") for value in call.arguments.values)
    return made if is_cast else replace(made, dtype=tensor.dtype)


def _says_dtype(value: Value) -> bool:
    """Whether an argument of `to` is a dtype that is known, or none."""
    return isinstance(value, (Const, External)) or value == Python("device")


def _cast(frame: Frame, tensor: Tensor, kind: Kind | None, dtype: str | None) -> Tensor:
    """The tensor in another dtype: itself if it has that dtype already."""
    requires_grad = tensor.requires_grad and kind not in {"int", "bool"}
    form = tensor.form and tensor.form.converted(dtype)
    return same(frame, tensor, kind=kind, dtype=dtype, form=form, requires_grad=requires_grad)
