"""Results of operators on tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from exportlint.analysis.domain.lattice import options, trail_of
from exportlint.analysis.domain.operand_forms import Form, combined
from exportlint.analysis.domain.shape import UNSHAPED, TensorShape
from exportlint.analysis.domain.values import (
    Const,
    Kind,
    Origin,
    Python,
    Scalar,
    Size,
    Tensor,
    Value,
)
from exportlint.analysis.eval.baked_values import CONVERSIONS, bake_in
from exportlint.analysis.eval.demands import read_data
from exportlint.analysis.eval.frame import Frame, note_guarded_operator
from exportlint.analysis.eval.gradients import is_carried
from exportlint.analysis.eval.sizes import broadcast, note_fixed_rows

BROADCASTS = frozenset({"operator", "comparison"})
FITTED = BROADCASTS | {"matmul"}
"""What Python does with tensors whose shapes have to fit together."""
CARRIES = FITTED | {"indexing"}
"""What Python does with tensors whose result requires gradients if they do."""
KEEPS_ARRAY = BROADCASTS | {"indexing", "matmul"}
"""What Python does with an array of numpy gives another one; functions of torch make tensors of it."""
RANKS: dict[Kind | None, int] = {"bool": 0, "int": 1, "float": 2}


def result(
    frame: Frame,
    node: ast.AST,
    operation: str,
    operands: Iterable[Value],
    kind: Kind | None = None,
    shape: TensorShape = UNSHAPED,
) -> Tensor:
    """The fresh tensor that an operator makes of its operands; `.data` among them is thereby read."""
    effects = frame.engine.effects
    effects.computes = effects.computes or operation.rpartition(".")[2] not in CONVERSIONS
    tensors: list[Tensor] = []
    for operand in operands:
        for option in options(operand):
            if isinstance(option, Tensor):
                read_data(frame, option, node, operation)
                tensors.append(option)
            elif not isinstance(option, (Const, Python, Scalar, Size)):
                bake_in(frame, option, node, "operator")
    if operation in BROADCASTS:
        note_fixed_rows(frame, tensors, node, operation)
    certain = [t for t in tensors if not t.assumed]
    if frame.guards and len(certain) > 1 and operation in FITTED:
        note_guarded_operator(frame)
    trail = next((t.trail for t in certain or tensors if t.trail is not None), None)
    if trail is None:
        trail = next((trail for o in operands if (trail := trail_of(o)) is not None), None)
    return Tensor(
        Origin.FRESH,
        kind,
        broadcast(tensors) if operation in BROADCASTS else shape,
        known=bool(tensors) and all(t.known and t.origin is Origin.FRESH for t in tensors),
        literal=bool(tensors) and all(t.literal for t in tensors),
        constant=bool(tensors) and all(t.constant and t.origin is Origin.FRESH for t in tensors),
        assumed=bool(tensors) and not certain,
        region=frame.engine.region,
        form=_form(operation, operands, kind) if frame.engine.region else None,
        depends_on_input=any(map(_surely_from_input, _read(operation, tensors, operands))),
        untraced_backward=any(t.untraced_backward for t in tensors) and any(map(_surely_untraced_backward, operands)),
        array=operation in KEEPS_ARRAY and bool(tensors) and all(t.array for t in tensors),
        requires_grad=operation in CARRIES
        and is_carried(frame, kind, islice(operands, 1 if operation == "indexing" else None)),
        trail=trail,
    )


def _form(operation: str, operands: Iterable[Value], kind: Kind | None) -> Form | None:
    if operation not in {"operator", "comparison"}:
        return None
    form = elementwise(operands)
    if form is None or all(o.kind == kind for o in operands if isinstance(o, Tensor)):
        return form
    return replace(form, dtype="bool" if kind == "bool" else None)


def elementwise(operands: Iterable[Value]) -> Form | None:
    """The form of what an operator makes of each element of tensors, and of numbers."""
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    numbers = [kind_of(operand) for operand in operands if not isinstance(operand, Tensor)]
    if None in numbers:
        return None
    keeps = all(kind != "float" or tensor.kind == "float" for kind in numbers for tensor in tensors)
    return combined((tensor.form for tensor in tensors), keeps_dtype=keeps)


def is_computed_from_input(tensor: Tensor) -> bool:
    """Whether the data of inputs is in a tensor."""
    return tensor.depends_on_input or (tensor.origin is Origin.INPUT and not tensor.assumed)


def _surely_from_input(operand: Value) -> bool:
    """Whether the data of inputs is in a tensor, whichever of its alternatives it is."""
    tensors = [option for option in options(operand) if isinstance(option, Tensor)]
    return bool(tensors) and all(map(is_computed_from_input, tensors))


def _surely_untraced_backward(operand: Value) -> bool:
    """Whether a gradient through an operand reads what is not traced, whichever of its alternatives it is."""
    tensors = [option for option in options(operand) if isinstance(option, Tensor)]
    return bool(tensors) and all(t.untraced_backward for t in tensors)


def _read(operation: str, tensors: Sequence[Tensor], operands: Iterable[Value]) -> Sequence[Value]:
    """The operands whose data an operator reads, and not only their sizes and dtypes."""
    name = operation.rpartition(".")[2]
    if name.endswith("_like") or name.startswith("new_"):
        return ()
    return tensors[:1] if name.endswith("_as") else tuple(operands)


def promoted(values: Iterable[Value]) -> Kind | None:
    """The dtype class that torch's type promotion gives; None if an operand's is not known, or there is none."""
    kinds = [kind_of(value) for value in values]
    return max(kinds, key=lambda kind: RANKS[kind]) if kinds and None not in kinds else None


def kind_of(value: Value) -> Kind | None:
    """The class of a tensor's dtype or of a Python number."""
    if isinstance(value, (Tensor, Scalar)):
        return value.kind
    if isinstance(value, Size):
        return None if value.kind == "str" else value.kind
    number = getattr(value, "value", None)
    if isinstance(number, bool):
        return "bool"
    if isinstance(number, int):
        return "int"
    return "float" if isinstance(number, float) else None


def same(frame: Frame, tensor: Tensor, **changes: object) -> Tensor:
    """The tensor that an op without effect on sizes makes of one: fresh storage."""
    changes |= {
        "array": False,
        "unplaced": False,
        "compacted": False,
        "buffer": None,
        "region": frame.engine.region,
        "depends_on_input": is_computed_from_input(tensor),
    }
    return replace(tensor, origin=Origin.FRESH, known=False, data=None, optional=False, **changes)  # type: ignore[arg-type]
