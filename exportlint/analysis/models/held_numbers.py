"""Numbers read from tensors that a value holds."""

from __future__ import annotations

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Dict, Scalar, Sequence, Tuple, Value
from exportlint.analysis.eval.demands import data_of


def numbers_in(value: Value) -> list[Scalar]:
    """Those that a value surely is, or that it surely holds directly."""
    items: tuple[Value, ...] = (value,)
    if isinstance(value, Tuple):
        items = value.items
    elif isinstance(value, Sequence):
        items = options(value.item)  # a list holds one and the other
    elif isinstance(value, Dict):
        items = tuple(entry for _, entry in value.entries)
    return [number for item in items if isinstance(number := data_of(item), Scalar)]
