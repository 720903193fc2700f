"""Which dimensions of a result have sizes that come out of the data of tensors."""

from __future__ import annotations

from collections.abc import Iterable

from exportlint.analysis.domain.dim import Expression
from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import (
    Const,
    Dict,
    Scalar,
    Sequence,
    Tensor,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of
from exportlint.analysis.torch.operator import ShapeRule
from exportlint.analysis.torch.registry import find

KEEPS: frozenset[ShapeRule | None] = frozenset({"same", "elementwise", "joined", "squeezed", "flattened"})
"""The shapes that keep the sizes of the first tensor, as far as data-dependent dimensions go."""


def kept_dims(name: str, operands: tuple[Value, ...], shape: TensorShape) -> frozenset[int]:
    """The data-dependent dimensions of the first tensor, where an operator keeps them and `shape` has no exact size."""
    if find(name).shape not in KEEPS:
        return frozenset()
    found: frozenset[int] = frozenset()
    for tensor in flat(operands[:1]):
        if isinstance(tensor, Tensor):
            found |= tensor.dynamic
    return frozenset(dim for dim in found if not isinstance(shape.at(dim), Expression))


def selected_dim(name: str, arguments: Arguments | None) -> frozenset[int]:
    """The dimension that an operator with a data-dependent result makes: `dim` where it takes one, else the first."""
    library, _, short = name.rpartition(".")
    if arguments is not None and short in {"repeat_interleave", "unique", "unique_consecutive"}:
        place = (2 if library else 1) if short == "repeat_interleave" else -1
        dim = arguments.keywords.get("dim") or (arguments.get(place) if place > 0 else None)
        if isinstance(dim, Const) and isinstance(dim.value, int):
            return frozenset({dim.value}) if dim.value >= 0 else frozenset()
    return frozenset({0})


def data_dims(name: str, arguments: Arguments | None) -> frozenset[int]:
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
