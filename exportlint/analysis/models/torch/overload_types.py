"""The coarse types by which the torch table chooses overloads."""

from __future__ import annotations

from exportlint.analysis.domain.values import (
    Const,
    External,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.torch.dtypes import DTYPES


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
        return "scalar" if value.kind is None or value.kind == "float" else value.kind  # "float" may only be guessed
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
