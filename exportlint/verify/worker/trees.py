"""Specs of inputs, which hold others."""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from .specs import evaluate
from .words import Spec

Place = tuple[Any, ...]  # an argument, then the indices and keys inside of it


DIMENSIONS: Mapping[int, tuple[str, ...]] = {
    0: (),
    1: ("length",),
    2: ("batch", "features"),
    3: ("batch", "length", "features"),
    4: ("batch", "channels", "height", "width"),
    5: ("batch", "channels", "depth", "height", "width"),
}


def arranged(
    parameters: Mapping[str, inspect.Parameter], values: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Values as a call gives them: by position as long as none is left out."""
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name not in values:
            continue
        if parameter.kind == parameter.VAR_POSITIONAL:
            arguments += values[name]
        elif parameter.kind == parameter.VAR_KEYWORD:
            keywords |= values[name]
        elif parameter.kind == parameter.KEYWORD_ONLY or len(arguments) < list(parameters).index(name):
            keywords[name] = values[name]
        else:
            arguments.append(values[name])
    return tuple(arguments), keywords


def tensor_spec(dtype: str, shape: Sequence[int | str], high: float | None = None) -> dict[str, Any]:
    """The spec of a tensor; whole numbers are 0 and 1 unless told."""
    whole = dtype.startswith(("int", "uint"))
    bound = high if high is not None else 2 if whole else None
    return {"tensor": {"dtype": dtype, "shape": list(shape), "low": 0 if whole else None, "high": bound}}


def filled(spec: Spec, dims: Sequence[str]) -> dict[str, Any]:
    """A spec with names for the dimensions that it leaves open."""
    kind, held = next(iter(spec.items()))
    if kind == "dict":
        return {kind: {key: filled(item, dims) for key, item in held.items()}}
    if kind in ("list", "tuple"):
        return {kind: [filled(item, dims) for item in held]}
    if kind == "tensor" and "..." in held["shape"]:
        given = [dim for dim in held["shape"] if dim != "..."]
        at_ = list(held["shape"]).index("...")
        rest = [dim for dim in dims if dim not in given][: max(len(dims) - len(given), 0)]
        held = {**held, "shape": [*given[:at_], *rest, *given[at_:]]}
    if kind == "tensor":
        spec = tensor_spec(held["dtype"], held["shape"], held.get("high"))
        spec["tensor"].update({key: held[key] for key in ("low", "high") if held.get(key) is not None})
    return dict(spec)


def reshaped(shape: Sequence[int | str]) -> Iterator[list[int | str]]:
    """Dimensions of another number: the usual ones, or these without one, or with one of a single entry."""
    for rank, dims in DIMENSIONS.items():
        if rank != len(shape):
            yield [*dims]
    for index in {1, len(shape) - 1}:
        if 0 < index < len(shape):
            yield [*shape[:index], *shape[index + 1 :]]
    yield [*shape[:1], 1, *shape[1:]]
    yield [*shape, 1]


def as_json(spec: Any) -> Any:
    """A spec as JSON has it, for it is compared with others."""
    return json.loads(json.dumps(spec))


def leaf_specs(specs: Mapping[str, Spec]) -> Iterator[tuple[Place, Spec]]:
    """The tensors and constants, each with its place."""
    for path, spec in walk(specs):
        if "tensor" in spec or "value" in spec:
            yield path, spec


def containers(specs: Mapping[str, Spec]) -> Iterator[tuple[Place, Spec]]:
    """The lists, tuples and dictionaries, each with its place."""
    for path, spec in walk(specs):
        if "tensor" not in spec and "value" not in spec:
            yield path, spec


def walk(specs: Mapping[Any, Spec], above: Place = ()) -> Iterator[tuple[Place, Spec]]:
    """All specs, also those inside of others."""
    for name, spec in specs.items():
        yield (*above, name), spec
        held = next(iter(spec.values()))
        if "dict" in spec:
            yield from walk(held, (*above, name))
        elif "list" in spec or "tuple" in spec:
            yield from walk(dict(enumerate(held)), (*above, name))


def at(specs: Mapping[Any, Spec], path: Place) -> Spec:
    """The spec at a place."""
    return next(spec for place, spec in walk(specs) if place == path)


def replaced(specs: Mapping[Any, Spec], path: Place, new: Spec) -> dict[Any, Spec]:
    """The specs with another one at a place."""
    head, rest = path[0], path[1:]
    if not rest:
        return {**specs, head: new}
    kind, held = next(iter(specs[head].items()))
    inner = replaced(held if kind == "dict" else dict(enumerate(held)), rest, new)
    return {**specs, head: {kind: inner if kind == "dict" else [inner[index] for index in sorted(inner)]}}


def dims_of(leaf: Spec) -> Sequence[int | str]:
    """The dimensions of a tensor; those of anything else are none."""
    return leaf["tensor"]["shape"] if "tensor" in leaf else ()


def dynamic_of(spec: Spec, names: Collection[str]) -> Any:
    """The names of what varies of a value."""
    kind, held = next(iter(spec.items()))
    if kind == "dict":
        return {key: dynamic_of(item, names) for key, item in held.items()}
    if kind in ("list", "tuple"):
        return [dynamic_of(item, names) for item in held]
    return {i: dim for i, dim in enumerate(held["shape"]) if dim in names} if kind == "tensor" else None


def spec_text(spec: Spec, sizes: Mapping[str, int]) -> str:
    """A spec for people."""
    kind, held = next(iter(spec.items()))
    if kind == "tensor":
        return f"{held['dtype']}{[evaluate(dim, sizes) for dim in held['shape']]}"
    if kind == "value":
        return repr(held)
    if kind == "dict":
        return "{" + ", ".join(f"{key!r}: {spec_text(item, sizes)}" for key, item in held.items()) + "}"
    inner = ", ".join(spec_text(item, sizes) for item in held)
    return f"[{inner}]" if kind == "list" else f"({inner})"
