"""Inputs as they are written down: `"float32[batch=2, 3, 224, 224]"`, `"int64[batch, seq=16] < 1000"`."""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True)
class Constant:
    """Something that is no tensor: a number, text, a truth value or None."""

    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class ListSpec:
    """A list or a tuple of inputs."""

    items: tuple[Spec, ...]
    is_tuple: bool = False


@dataclass(frozen=True, slots=True)
class DictSpec:
    """A dictionary of inputs."""

    items: Mapping[str, Spec]


Spec: TypeAlias = TensorSpec | Constant | ListSpec | DictSpec
