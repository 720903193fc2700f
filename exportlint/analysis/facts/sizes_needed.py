"""What the interpreter saw of operators that must know a size which data decides."""

from __future__ import annotations

from dataclasses import dataclass

from exportlint.analysis.domain.values import Tensor
from exportlint.analysis.facts import Fact


@dataclass(frozen=True, slots=True)
class SizeNeed(Fact):
    """The operator or module `api` must know a size of `operand`, which depends on data.

    `least`: it is enough to know that the size is not smaller; None if that is never enough.
    """

    api: str
    operand: Tensor
    least: int | None
