"""Numbers and lengths that calls of a model change, in its attributes and in globals of the project."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from typing import Any


def counters(model: Any, modules: Iterable[Any]) -> dict[tuple[int, str], Any]:
    """The numbers, and the lengths of containers, that the parts of a model and modules hold, by holder and name."""
    found: dict[tuple[int, str], Any] = {}
    for i, holder in enumerate((*model.modules(), *modules)):
        for name, value in list(vars(holder).items()):
            if isinstance(value, (bool, int, float)):
                found[i, name] = value
            elif isinstance(value, (list, set, collections.deque, Mapping)) and not name.startswith("__"):
                found[i, name] = len(value)
    return found
