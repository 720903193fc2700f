"""Inputs that are tried, as specs."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .specs import evaluate
from .trees import DIMENSIONS, Place, at, dims_of, leaf_specs, replaced, spec_text
from .words import Spec

SIZES = {"batch": 2, "length": 8, "features": 16, "channels": 3, "depth": 8, "height": 32, "width": 32}


LETTERS = {"b": 2, "c": 3, "d": 16, "h": 32, "w": 32}


USUAL = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 48, 64, 96, 112, 128, 160, 192, 224, 227, 256, 299, 384, 512)


LARGEST = 1 << 20  # numbers in one tensor


DTYPES = {
    "float": "float32", "floating": "float32", "float32": "float32", "double": "float64", "half": "float16",
    "long": "int64", "int": "int64", "int32": "int64", "int64": "int64", "integer": "int64", "integral": "int64",
    "bool": "bool", "boolean": "bool", "byte": "uint8", "complexfloat": "complex64", "complexdouble": "complex128",
}  # fmt: skip


KINDS: Mapping[str, tuple[Any, ...]] = {
    "index": (1, 2), "integer": (1, 2), "integers": (1, 2), "int": (1, 2), "ints": (1, 2), "float": (0.5,),
    "number": (0.5, 1), "str": ("",), "string": ("",), "bool": (True, False),
}  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """What may be tried: a spec for each argument, and the size of each name in them."""

    specs: Mapping[str, Spec]
    sizes: Mapping[str, int]

    def key(self) -> str:
        """The same for candidates that are the same."""
        used = {dim: self.sizes[dim] for dim in every_dim(self)}
        return json.dumps([self.specs, used], sort_keys=True)

    def put(self, path: Place, spec: Spec) -> Candidate:
        """Another value at a place."""
        return Candidate(replaced(self.specs, path, spec), self.sizes)

    def sized(self, names: Iterable[str], size: int) -> Candidate:
        """Another size for some names."""
        return Candidate(self.specs, {**self.sizes, **dict.fromkeys(names, size)})

    def apart(self, path: Place, index: int, size: int) -> Candidate:
        """Another size for one dimension of one tensor, whatever others of the same name have."""
        tensor = at(self.specs, path)["tensor"]
        name = next(
            f"{DIMENSIONS[1][0]}_{i}" for i in itertools.count(2) if f"{DIMENSIONS[1][0]}_{i}" not in self.sizes
        )
        shape = [name if i == index else dim for i, dim in enumerate(tensor["shape"])]
        return Candidate(replaced(self.specs, path, {"tensor": {**tensor, "shape": shape}}), {**self.sizes, name: size})

    def shaped(self, places: Iterable[Place], shape: Sequence[int | str]) -> Candidate:
        """Other dimensions for some tensors."""
        specs = self.specs
        for place in places:
            specs = replaced(specs, place, {"tensor": {**at(specs, place)["tensor"], "shape": list(shape)}})
        return Candidate(specs, self.sizes)

    def renamed(self, names: Mapping[str, str]) -> Candidate:
        """Other names for some sizes."""
        specs = self.specs
        for path, leaf in leaf_specs(self.specs):
            shape = [names.get(str(dim), dim) for dim in dims_of(leaf)]
            if "tensor" in leaf:
                specs = replaced(specs, path, {"tensor": {**leaf["tensor"], "shape": shape}})
        return Candidate(specs, {**self.sizes, **{new: self.sizes[old] for old, new in names.items()}})

    def weight(self) -> int:
        """What it costs that the tensors are large."""
        numbers = sum(math.prod(map(self.size, dims_of(leaf))) for _, leaf in leaf_specs(self.specs))
        return max(0, numbers.bit_length() - 15) // 2

    def size(self, dim: int | str) -> int:
        """The size of a dimension."""
        known = self.sizes.get(dim) if isinstance(dim, str) else dim
        return evaluate(dim, self.sizes) if known is None else known


def with_sizes(candidate: Candidate) -> Candidate:
    """A candidate in which every name has a size."""
    sizes = dict(candidate.sizes)
    for _, leaf in leaf_specs(candidate.specs):
        for dim in dims_of(leaf):
            for name in re.findall(r"[A-Za-z_]\w*", dim) if isinstance(dim, str) else ():
                if name not in sizes:
                    known = next((size for letter, size in LETTERS.items() if name.lower().startswith(letter)), None)
                    sizes[name] = known or 4 + 2 * (len(sizes.keys() - SIZES.keys()) % 8)
    return Candidate(candidate.specs, sizes)


def fits(candidate: Candidate) -> bool:
    """Whether its tensors are of a reasonable size."""
    shapes = [[candidate.size(dim) for dim in dims_of(leaf)] for _, leaf in leaf_specs(candidate.specs)]
    return all(math.prod(shape) <= LARGEST and min(shape, default=0) >= 0 for shape in shapes)


def every_dim(candidate: Candidate) -> list[str]:
    """The dimensions that have names."""
    return [str(dim) for _, leaf in leaf_specs(candidate.specs) for dim in dims_of(leaf) if dim in candidate.sizes]


def dims_at(candidate: Candidate, indices: Sequence[int]) -> list[str]:
    """The dimensions at some indices that have names."""
    shapes = [dims_of(leaf) for _, leaf in leaf_specs(candidate.specs)]
    dims = [shape[index] for shape in shapes for index in indices if -len(shape) <= index < len(shape)]
    return [str(dim) for dim in dims if dim in candidate.sizes]


def describe(candidate: Candidate) -> list[str]:
    """A candidate for people."""
    return [f"{name} = {spec_text(spec, candidate.sizes)}" for name, spec in candidate.specs.items()]
