"""Tensors made of Python values: `torch.tensor([1, 2])`."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.dim import constant
from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.shape import SCALAR, UNSHAPED, TensorShape
from exportlint.analysis.domain.values import (
    Const,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import bake_in
from exportlint.analysis.eval.demands import data_of
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import data_shape, note_conversion, product
from exportlint.analysis.eval.tensor_results import kind_of, promoted, result
from exportlint.analysis.facts import Conversion
from exportlint.analysis.models.torch.results import dtype_of, items_of, named_dtype, note_creation
from exportlint.analysis.torch import table
from exportlint.analysis.torch.dtypes import DTYPES
from exportlint.analysis.torch.registry import find


def make_literal(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A tensor whose values come from Python. Tensors in a list are read; a lone number is known to non-strict."""
    data = arguments.get(0, "data")
    note_creation(frame, name, arguments, node)
    frame.engine.effects.computes = True
    if name in {"torch.as_tensor", "torch.asarray"}:
        for item in (product(data.tensor),) if isinstance(data, Shape) else items_of(data) if data is not None else ():
            note_conversion(frame, item, node, f"{name}()")
    for value in arguments.values:
        bake_in(frame, value, node, "operator")
    if isinstance(data, Tensor):
        made = result(frame, node, name, (data,), dtype_of(table.Returns("tensor", "same"), (data,), arguments))
        return replace(made, origin=data.origin if name == "torch.as_tensor" else Origin.FRESH)
    if isinstance(data, (Tuple, Sequence)):
        inner = next((t for t in tensors_in(data) if not t.assumed and t.data is None), None)
        if inner is not None:
            frame.emit(Conversion, node, inner, target=f"{name}()", operand=inner)
        scalar = next((s for i in items_of(data) if isinstance(s := data_of(i), Scalar)), None)
        if scalar is not None and name != "torch.tensor":
            frame.emit(Conversion, node, scalar, target=f"{name}()", operand=scalar)
    if isinstance(data, Scalar) and not data.assumed and name in {"torch.as_tensor", "torch.asarray"}:
        frame.emit(Conversion, node, data, target=f"{name}()", operand=data)
    kind = dtype_of(table.Returns("tensor"), (), arguments)
    if kind is None:
        kind = DTYPES.get(f"torch.{find(name).dtype}")
    if kind is None and data is not None:
        kind = promoted(items_of(data)) if isinstance(data, Tuple) and data.items else kind_of(data)
    number = _number_of(data)
    literal = number is not None and name != "torch.Tensor"
    is_constant = literal and not (isinstance(number, Size) and (number.dim.varies or number.dim.is_data))
    sized = name in {"torch.Tensor", "torch.FloatTensor"} and isinstance(data, Scalar)
    region = frame.engine.region
    trail = frame.trail(node, "`{}` is a tensor")
    shape = data_shape(frame, UNSHAPED, (0,), node) if sized else _shape(name, data)
    return Tensor(
        Origin.FRESH,
        kind,
        shape,
        known=is_constant and frame.engine.mode == "non-strict",
        literal=literal,
        constant=is_constant,
        region=region,
        trail=trail,
        dtype=named_dtype(arguments),
    )


def _number_of(data: Value | None) -> Const | Python | Size | None:
    """The number of which a tensor of one element is made: `3` or `[3]`."""
    while isinstance(data, Tuple) and len(data.items) == 1:
        data = data.items[0]
    return data if isinstance(data, (Const, Python, Size)) else None


def _shape(name: str, data: Value | None) -> TensorShape:
    """Of a number, and of a list of numbers or of such lists."""
    if name not in {"torch.tensor", "torch.as_tensor", "torch.asarray"}:
        return UNSHAPED
    if isinstance(data, (Const, Scalar, Size)):
        return SCALAR
    if not isinstance(data, Tuple) or not data.items:
        return UNSHAPED
    row = _shape(name, data.items[0])  # torch takes rows of one shape only
    return UNSHAPED if row.rank is None else TensorShape((constant(len(data.items)), *row.dims), row.rank + 1)
