"""Whether code records gradients, and what tensors surely require them.

torch replays the views that a tensor was made by when it is written while gradients are recorded. A view at an index
whose sign torch.export does not know has a new symbol each time, which the graph does not have (measured on 2.13).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.analysis.domain.dim import Dim, Expression, Unbacked
from exportlint.analysis.domain.interval import EVERYTHING, Interval
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    Const,
    External,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.tracing import DataIndex, GradFlag
from exportlint.analysis.torch import table
from exportlint.syntax.definitions import FunctionNode, dotted
from exportlint.syntax.walk import once_a_node, walk

SWITCHES = frozenset({"requires_grad_", "detach_", "set_grad_enabled", "_set_grad_enabled"})
"""Attributes of tensors, modules and torch that switch gradients on or off for the code that follows."""
RECORDING = frozenset({
    "torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast", "torch.enable_grad",
    "torch.device", "torch.cuda.device", "torch.nn.attention.sdpa_kernel", "torch.random.fork_rng",
    "torch.profiler.record_function", "torch.autograd.profiler.record_function", "contextlib.nullcontext",
    "contextlib.suppress", "warnings.catch_warnings",
})  # fmt: skip
"""Context managers whose body records gradients if the code around it does."""


def note_grad_flag(frame: Frame, tensor: Tensor, api: str, value: Value, node: ast.AST) -> None:
    """Record that the `requires_grad` of a tensor is set to a value."""
    enabled = bool(value.value) if isinstance(value, Const) else None
    frame.emit(GradFlag, node, tensor, api=api, target=tensor, enabled=enabled)


def is_recording(frame: Frame) -> bool:
    """Whether the current code surely records gradients when it is exported."""
    engine = frame.engine
    return not (engine.unrecorded or engine.constructing or engine.region)


def keeps_recording(frame: Frame, context: ast.expr) -> bool:
    """Whether the body of a `with` surely records gradients if the code around it does."""
    called = frame.peek(context.func) if isinstance(context, ast.Call) else None
    return isinstance(called, External) and table.resolve(called.name) in RECORDING


def may_not_record(node: ast.AST) -> bool:
    """Whether a decorator of a function may switch gradients off: `torch.no_grad` and the like, as its name tells."""
    return isinstance(node, FunctionNode) and bool(node.decorator_list) and _switches_gradients(node)


@once_a_node
def _switches_gradients(node: FunctionNode) -> bool:
    parts = [part for decorator in node.decorator_list for part in walk(decorator)]
    names = [dotted(part) or "" for part in parts if isinstance(part, (ast.Name, ast.Attribute))]
    return any("grad" in name or "inference" in name for name in names)


def requires_grad(value: Value) -> bool:
    """Whether a tensor surely requires gradients, or each one of a list, whichever of its alternatives it is."""
    if isinstance(value, Tensor):
        return value.requires_grad and not value.assumed
    if isinstance(value, Tuple):
        return any(map(requires_grad, value.items))
    if isinstance(value, Sequence):
        return requires_grad(value.item)
    found = options(value)
    return len(found) > 1 and all(map(requires_grad, found))


def is_carried(frame: Frame, kind: str | None, operands: Iterable[Value]) -> bool:
    """Whether the result of an operator surely requires gradients: it has them of one of its operands."""
    return kind not in {"int", "bool"} and is_recording(frame) and any(map(requires_grad, operands))


def is_unplaced(value: Value) -> bool:
    """Whether an index surely is a number of which torch.export does not know the sign."""
    if isinstance(value, Tensor):
        return value.kind == "int" and value.zero_dim and not (value.known or value.literal or value.assumed)
    if not isinstance(value, Scalar) or value.kind not in {"int", None}:
        return False
    if value.assumed:
        return value.within is not None and value.within != EVERYTHING and _straddles(value.within)
    return value.unbounded or _is_size_less(value.dim)


def _is_size_less(dim: Dim | None) -> bool:
    """Whether a number is a size that data decides, less more than it may be: `x[mask].shape[0] - 1`."""
    if not isinstance(dim, Expression) or len(dim.terms) != 1 or not dim.is_data:
        return False
    ((monomial, _),) = dim.terms
    return len(monomial) == 1 and isinstance(monomial[0], Unbacked) and _straddles(dim.within())


def _straddles(interval: Interval) -> bool:
    return interval[0] < 0 <= interval[1]


def is_unbounded(op: ast.operator, left: Value, right: Value) -> bool:
    """Whether nothing is known of the range of `left op right`, since nothing is of the one and the other is fixed."""
    number, other = (left, right) if isinstance(left, Scalar) else (right, left)
    if not isinstance(number, Scalar) or not number.unbounded or number.assumed:
        return False
    if isinstance(op, (ast.Add, ast.Sub)):
        return isinstance(other, Size) or _is_whole(other)
    if isinstance(op, ast.FloorDiv):
        return number is left and _is_whole(other) and isinstance(other, Const) and other.value != 0
    return isinstance(op, ast.Mult) and _is_whole(other) and isinstance(other, Const) and other.value != 0


def _is_whole(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) is int


def note_write(frame: Frame, target: Value, operands: Iterable[Value], index: Value | None, node: ast.AST) -> None:
    """Record that a view at a place that is not known is written while gradients are recorded.

    `index` is what surely places it there, None if the target has been such a view before.
    """
    found = options(target)
    tensors = [option for option in found if isinstance(option, Tensor) and not option.assumed]
    if len(tensors) < len(found) or any(tensor.kind in {"int", "bool"} for tensor in tensors):
        return
    if index is None and not all(tensor.unplaced for tensor in tensors):
        return
    if is_recording(frame) and (requires_grad(target) or any(map(requires_grad, operands))):
        told = index if index is not None else tensors[0]
        frame.emit(DataIndex, node, told, place="written", operand=told)


def written(target: Tensor, operands: Iterable[Value], frame: Frame) -> Tensor:
    """A tensor after operands were written to it."""
    if target.requires_grad or not is_carried(frame, target.kind, operands):
        return target
    return target.but(requires_grad=True)
