"""Results of operators on tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from exportlint.analysis.interpreter.demands import consume
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.joins import options, trail_of
from exportlint.analysis.values import (
    Kind,
    Origin,
    Scalar,
    Size,
    Tensor,
    Value,
)

RANKS: dict[Kind | None, int] = {"bool": 0, "int": 1, "float": 2}


def result(
    frame: Frame,
    node: ast.AST,
    operation: str,
    operands: Iterable[Value],
    kind: Kind | None = None,
    dynamic: frozenset[int] = frozenset(),
) -> Tensor:
    """The fresh tensor that an operator makes of its operands; `.data` among them is thereby read."""
    tensors = [o for operand in operands for o in options(operand) if isinstance(o, Tensor)]
    for tensor in tensors:
        consume(frame, tensor, node, operation)
    certain = [t for t in tensors if not t.assumed]
    trail = next((t.trail for t in certain or tensors if t.trail is not None), None)
    if trail is None:
        trail = next((trail for o in operands if (trail := trail_of(o)) is not None), None)
    return Tensor(
        Origin.FRESH,
        kind,
        dynamic,
        known=bool(tensors) and all(t.known and t.origin is Origin.FRESH for t in tensors),
        assumed=bool(tensors) and not certain,
        fed=any(is_fed(t) for t in _read(operation, tensors)),
        trail=trail,
    )


def is_fed(tensor: Tensor) -> bool:
    """Whether the data of inputs is in a tensor."""
    return tensor.fed or (tensor.origin is Origin.INPUT and not tensor.assumed)


def _read(operation: str, tensors: list[Tensor]) -> list[Tensor]:
    """The operands whose data an operator reads, and not only their sizes and dtypes."""
    name = operation.rpartition(".")[2]
    if name.endswith("_like") or name.startswith("new_"):
        return []
    return tensors[:1] if name.endswith("_as") else tensors


def promoted(values: Iterable[Value]) -> Kind | None:
    """The dtype class that torch's type promotion gives, None if an operand's is not known."""
    best: Kind | None = "bool"
    for value in values:
        kind = kind_of(value)
        if kind is None:
            return None
        if RANKS[kind] > RANKS[best]:
            best = kind
    return best


def kind_of(value: Value) -> Kind | None:
    """The class of a tensor's dtype or of a Python number."""
    if isinstance(value, (Tensor, Scalar)):
        return value.kind
    if isinstance(value, Size):
        return "int"
    number = getattr(value, "value", None)
    if isinstance(number, bool):
        return "bool"
    if isinstance(number, int):
        return "int"
    return "float" if isinstance(number, float) else None


def dynamic_dims(values: Iterable[Value]) -> frozenset[int]:
    """The data-dependent dimensions of an elementwise result, as far as operands of equal rank tell."""
    found: frozenset[int] = frozenset()
    for value in values:
        if isinstance(value, Tensor):
            found |= value.dynamic
    return found


def same(tensor: Tensor, **changes: object) -> Tensor:
    """The tensor that an op without effect on sizes makes of one: fresh storage."""
    fed = is_fed(tensor)
    return replace(tensor, origin=Origin.FRESH, known=False, data=None, optional=False, fed=fed, **changes)  # type: ignore[arg-type]
