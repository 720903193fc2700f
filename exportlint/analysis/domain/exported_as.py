"""How the code around a class exports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from exportlint.analysis.domain.values import Range


@dataclass(frozen=True, slots=True)
class ExportedAs:
    """What a file says of how one of its classes is exported.

    `dims` are the dimensions that vary, by parameter of its forward, with their bounds; None if nothing is said.
    `is_unrecorded`: it may be exported without recording gradients. `tensors` are the parameters of its forward for
    which an example is a tensor, with the number of its dimensions, None if that is not the same in all calls.
    """

    dims: Mapping[str, Mapping[int, Range]] | None = None
    is_unrecorded: bool = False
    tensors: Mapping[str, int | None] = field(default_factory=dict)


UNSPECIFIED = ExportedAs()
"""A class of which a file says nothing."""
