"""Values that Python asks of the world around a model: the program keeps the ones that export met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Literal

from exportlint.analysis.domain.immutable import immutable
from exportlint.analysis.domain.trails import Site, Trail
from exportlint.analysis.domain.values import Dict, Kind, Sequence, Tuple, Union, Value

Source = Literal[
    "random", "clock", "environment", "generator", "default", "dtype", "layout", "gradient", "accelerator", "numpy"
]
"""What gave a value: the host, or what torch knows of a tensor besides its data and sizes.

`accelerator`: whether the machine has one, or a tensor is on one. `numpy`: what numpy computed before the trace began,
a number or an array.
"""

OF_TENSORS: frozenset[Source] = frozenset({"dtype", "layout", "gradient"})
"""Sources that ask an input, not the host."""


@immutable
class Baked(Value):
    """A Python value that may be another one when the program is called. `api` gave it.

    `site` is where the host gave it; None for what an input says of itself, which matters only where it decides
    something. `kind` is the class of the dtype that a dtype was compared with. `array`: it is an array of numpy.
    `type` is the name of its own type, where that is known.
    """

    source: Source
    api: str
    site: Site | None = None
    kind: Kind | None = None
    array: bool = False
    type: str | None = None
    trail: Trail | None = field(default=None, compare=False)


def baked_in(value: Value, depth: int = 2) -> Iterator[Baked]:
    """The baked values that a value is or contains."""
    if isinstance(value, Baked):
        yield value
    elif isinstance(value, Union):
        for option in value.options:
            yield from baked_in(option, depth)
    elif depth and isinstance(value, Tuple):
        for item in value.items:
            yield from baked_in(item, depth - 1)
    elif depth and isinstance(value, Sequence):
        yield from baked_in(value.item, depth - 1)
    elif depth and isinstance(value, Dict):
        for _, item in value.entries:
            yield from baked_in(item, depth - 1)
