"""What an assignment changes of a buffer for sure, besides its values."""

from __future__ import annotations

from typing import Literal

from exportlint.analysis.domain.accesses import Write
from exportlint.analysis.domain.values import NONE, Tensor

DEFAULT_DTYPE = "float32"
"""What the floats of a buffer are, where no operator says more."""


def changes(write: Write) -> Literal["nothing", "dtype", "shape", "presence"]:
    """What differs between the buffer and what it is bound to."""
    before, value = write.before, write.value
    if value == NONE:
        return "presence" if before not in {None, NONE} else "nothing"
    if not isinstance(before, Tensor) or not isinstance(value, Tensor):
        return "nothing"
    if None not in (before.kind, value.kind) and before.kind != value.kind:
        return "dtype"
    held = before.dtype or (DEFAULT_DTYPE if before.kind == "float" and before.buffer is not None else None)
    if None not in (held, value.dtype) and held != value.dtype:
        return "dtype"
    return "shape" if write.cell in value.joined else "nothing"
