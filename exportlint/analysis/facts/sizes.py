"""What happens to sizes that vary from call to call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exportlint.analysis.domain.dim import Declared
from exportlint.analysis.facts import Construct, Fact


@dataclass(frozen=True, slots=True)
class SizeBranch(Fact):
    """Python decides on a size that varies. `test` as for Guard; `raises`: all that hangs on it is a `raise`.

    `declared` is what code says of the size; so of the other facts.
    """

    construct: Construct
    test: Literal["one", "constant", "order"]
    raises: bool
    declared: Declared = "auto"


@dataclass(frozen=True, slots=True)
class SizeConversion(Fact):
    """Python wants a plain number, or as many steps as a size has.

    `target` is what wants it: "int()", "math.sqrt()", "range()", "iteration", "list repetition", "set element",
    "isinstance()", "class pattern", "text". `varies`: the size is known to vary from call to call. `is_float`: it is
    the result of a division or the like. `refused`: it cannot be traced with a size that varies. `is_data`: it is a
    number read from a tensor.
    """

    target: str
    varies: bool
    is_float: bool = False
    refused: bool = False
    is_data: bool = False
    declared: Declared = "auto"


@dataclass(frozen=True, slots=True)
class FixedSize(Fact):
    """A number in the code stands where the size of a dimension that varies belongs. `api` is what takes it.

    "rest" is a slice that leaves fewer than two rows for some sizes; there `size` is 0. So it is for a layer, whose
    parameters have that size; its name has no parentheses.
    """

    api: str
    size: int
    declared: Declared = "auto"
