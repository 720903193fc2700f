"""What the parts of the worker hand each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Job = Mapping[str, Any]


Emit = Callable[[Mapping[str, Any]], None]


Inputs = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Example:
    """What a model is called with. `dynamic` is as `dynamic_shapes` of `torch.export.export`, or None.

    `sizes` are the dimensions that vary by name, with their sizes here; `remake` gives other inputs: for other sizes,
    or for another seed of their numbers, where the example can be made anew, else None. `ranges` are, for each tensor,
    None or the range that its numbers must be in.
    """

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    dynamic: Any = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    remake: Callable[[Mapping[str, int], int], Inputs] | None = None
    ranges: Sequence[Any] = ()


Spec = Mapping[str, Any]
