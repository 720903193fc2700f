"""Numbers read from tensors that a value holds."""

from __future__ import annotations

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Dict, Scalar, Sequence, Tuple, Value


def numbers_in(value: Value) -> list[Scalar]:
    """Those that a value is, or that it holds directly, but for such as are only assumed to be some."""
    items: tuple[Value, ...] = (value,)
    if isinstance(value, Tuple):
        items = value.items
    elif isinstance(value, Sequence):
        items = (value.item,)
    elif isinstance(value, Dict):
        items = tuple(entry for _, entry in value.entries)
    return [s for i in items for s in options(i) if isinstance(s, Scalar) and not s.assumed]
