"""Other inputs of the same form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .lazily import pytree, torch
from .pristine import undisturbed
from .texts import short
from .varying import leaves_of, zipped
from .words import Example, Inputs


@undisturbed
def changed_values(example: Example, number: int) -> list[tuple[str, Inputs]]:
    """The example with other numbers, with what was done to them. Integers stay in the range of those seen.

    Inputs that are one tensor stay one: `changed_apart` has others for each.
    """
    inputs: Inputs = (example.arguments, dict(example.keywords))
    ranges = iter(example.ranges)
    leaves, structure = pytree.tree_flatten(inputs)
    limits = [next(ranges, None) if isinstance(leaf, torch.Tensor) else None for leaf in leaves]
    generator = torch.Generator().manual_seed(number)
    found: list[tuple[str, Inputs]] = []
    changes: Sequence[tuple[str, Callable[[Any, Any], Any]]] = (
        ("random", lambda tensor, _: _random(tensor, generator)),
        ("negated", _negated),
        ("zeros", _zeros),
        ("NaN", lambda tensor, _: torch.full_like(tensor, math.nan) if tensor.is_floating_point() else tensor),
    )
    for label, change in changes:
        if label == "random" and example.remake is not None:
            found.append((label, example.remake(example.sizes, number)))
            continue
        tensors = {
            id(leaf): (leaf, limit)
            for leaf, limit in zipped(leaves, limits)
            if isinstance(leaf, torch.Tensor) and leaf.numel()
        }
        changed = {i: change(leaf, limit) for i, (leaf, limit) in tensors.items()}
        made = [changed.get(id(leaf), leaf) for leaf in leaves]
        if any(new is not old for new, old in zipped(made, leaves)):
            found.append((label, pytree.tree_unflatten(made, structure)))
    return found


def changed_apart(example: Example, number: int) -> Inputs | None:
    """The example with other numbers in each input, also in those that are one tensor; None if none are."""
    apart = with_shared((example.arguments, dict(example.keywords)), share=False)
    if apart is None:
        return None
    return next((inputs for _, inputs in changed_values(Example(*apart), number)), None)


def shared_in(arguments: Mapping[str, Any]) -> list[list[str]]:
    """The inputs that are one tensor, by where they are in the arguments."""
    places: dict[int, list[str]] = {}
    for leaf, path in leaves_of(arguments):
        if isinstance(leaf, torch.Tensor):
            places.setdefault(id(leaf), []).append(path)
    return [paths for paths in places.values() if len(paths) > 1]


def changed_constants(example: Example, texts: Sequence[str]) -> Iterator[tuple[str, Inputs]]:
    """The example with another value in place of a number, truth value or string; strings are those of `texts`."""
    leaves, structure = pytree.tree_flatten((example.arguments, dict(example.keywords)))
    for i, leaf in enumerate(leaves):
        others: list[Any] = [] if (other := another(leaf)) is None else [other]
        if type(leaf) is str:
            others = [text for text in texts if text != leaf][:3]
        for value in others:
            made = [*leaves[:i], value, *leaves[i + 1 :]]
            yield f"{short(value)} instead of {short(leaf)}", pytree.tree_unflatten(made, structure)


@undisturbed
def with_shared(inputs: Inputs, *, share: bool) -> Inputs | None:
    """Inputs in which tensors that are alike are one, or each is one of its own; None if they are so already."""
    leaves, structure = pytree.tree_flatten(inputs)
    made: list[Any] = []
    for leaf in leaves:
        known = [one for one in made if isinstance(leaf, torch.Tensor) and isinstance(one, torch.Tensor)]
        if share:
            alike = (one for one in known if one.shape == leaf.shape and one.dtype == leaf.dtype)
            made.append(next(alike, leaf))
        else:
            made.append(leaf.clone() if any(one is leaf for one in known) else leaf)
    changed = any(new is not old for new, old in zipped(made, leaves))
    return pytree.tree_unflatten(made, structure) if changed else None


def another(value: Any) -> Any:
    """Another value of the same type, None for what is not a number, a truth value or a text."""
    if isinstance(value, bool):
        return not value
    if type(value) in (int, float):
        return value + 1
    return f"{value}_" if type(value) is str else None


def _random(tensor: Any, generator: Any) -> Any:
    if tensor.dtype == torch.bool:
        made = torch.rand(tensor.shape, generator=generator) < 0.5
    elif tensor.is_floating_point() or tensor.is_complex():
        wide = tensor.detach().to("cpu", torch.complex128 if tensor.is_complex() else torch.float64)
        scale = wide.std().abs().item() if tensor.numel() > 1 else 0.0
        scale = scale if math.isfinite(scale) and scale > 0 else 1.0
        made = torch.randn(tensor.shape, generator=generator, dtype=wide.dtype) * scale
    else:
        low, high = int(tensor.min()), int(tensor.max())
        made = torch.randint(low, high + 1, tuple(tensor.shape), generator=generator)
    return _as(made, tensor)


def _negated(tensor: Any, limits: Any) -> Any:
    if tensor.dtype == torch.bool:
        return ~tensor
    if tensor.is_floating_point() or tensor.is_complex():
        return tensor if limits else -tensor
    return (tensor.min() + tensor.max()) - tensor


def _zeros(tensor: Any, limits: Any) -> Any:
    if tensor.dtype == torch.bool or ((tensor.is_floating_point() or tensor.is_complex()) and not limits):
        return torch.zeros_like(tensor)
    return tensor


def _as(made: Any, tensor: Any) -> Any:
    """Numbers in the dtype, on the device and in the layout of a tensor."""
    return torch.empty_like(tensor).copy_(made)
