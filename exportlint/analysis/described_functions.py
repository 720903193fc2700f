"""What people say of their own functions that exportlint cannot look into: compiled code, operators of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Returned = Literal["tensor", "like", "bool", "int", "float", "str", "none", "unknown"]
"""What a function returns.

tensor: a tensor of a shape of its own. like: a tensor of the shape and dtype of its first one. bool, int, float, str:
such a value, that does not come from the data of a tensor. none: nothing. unknown: anything.
"""


@dataclass(frozen=True, slots=True)
class DescribedFunction:
    """What a function does. `reads_data`: it needs the numbers in the tensors that it is given, as `int` does."""

    returns: Returned = "unknown"
    reads_data: bool = False
