"""Inputs as data: tensors of random numbers, values, and lists and dictionaries of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor of random numbers. Sizes are numbers, or expressions over named dimensions such as `batch` or `2*seq`.

    Numbers are from `low` up to, not including, `high`, where these are not None.
    """

    dtype: str
    shape: tuple[int | str, ...]
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        bounds = "".join(f" {sign} {n!r}" for sign, n in ((">=", self.low), ("<", self.high)) if n is not None)
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]{bounds}"


@dataclass(frozen=True, slots=True)
class Constant:
    """Something that is not a tensor: a number, text, a truth value or None."""

    value: bool | int | float | str | None

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class ListSpec:
    """A list or a tuple of inputs."""

    items: tuple[Spec, ...]
    is_tuple: bool = False

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.items))
        return f"({inner}{',' * (len(self.items) == 1)})" if self.is_tuple else f"[{inner}]"


@dataclass(frozen=True, slots=True)
class DictSpec:
    """A dictionary of inputs."""

    items: Mapping[str, Spec]

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in self.items.items()) + "}"


Spec: TypeAlias = TensorSpec | Constant | ListSpec | DictSpec


def tensors_in(specs: Iterable[Spec]) -> Iterator[TensorSpec]:
    """All tensors of specs, in order."""
    for spec in specs:
        if isinstance(spec, TensorSpec):
            yield spec
        elif isinstance(spec, ListSpec):
            yield from tensors_in(spec.items)
        elif isinstance(spec, DictSpec):
            yield from tensors_in(spec.items.values())
