"""Gradients of what a call gives."""

from __future__ import annotations

from typing import Any

from .calls import Outcome, seed, snapshot
from .differences import difference
from .lazily import pytree, torch
from .pristine import undisturbed
from .varying import zipped
from .words import Inputs


def gradients(module: Any, inputs: Inputs, number: int, of_inputs: bool) -> Outcome:
    """Which results have a gradient, and the gradients of their sum, weighted, by parameter or position of an input."""
    leaves, structure = pytree.tree_flatten(snapshot(inputs))
    wanted: dict[str, Any] = {}
    if of_inputs:
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex()):
                wanted[f"input {i}"] = leaf.requires_grad_()
                leaves[i] = leaf.clone()  # no leaf, so that the model may write to it
    wanted.update((name, p) for name, p in module.named_parameters() if p.requires_grad)
    arguments, keywords = pytree.tree_unflatten(leaves, structure)
    outcome = Outcome()
    seed(number)
    try:
        made = [leaf for leaf in pytree.tree_leaves(module(*arguments, **keywords)) if isinstance(leaf, torch.Tensor)]
        total = sum(_weighted(leaf) for leaf in made if leaf.requires_grad)
        found: tuple[Any, ...] = (None,) * len(wanted)
        if isinstance(total, torch.Tensor) and wanted:
            found = torch.autograd.grad(total, list(wanted.values()), allow_unused=True)
        grads = {n: torch.zeros_like(w) if g is None else g for (n, w), g in zipped(wanted.items(), found)}
        outcome.value = [bool(leaf.requires_grad) for leaf in made], grads
    except BaseException as error:
        outcome.error = error
    return outcome


@undisturbed
def gradient_difference(one: Any, other: Any, tolerance: float | None) -> tuple[str, float | None] | None:
    """How what `gradients` gives for the program is not what it gives for the eager model."""
    for i, (ours, theirs) in enumerate(zipped(one[0], other[0])):
        if ours != theirs:
            has, lacks = ("eager", "the program") if ours else ("the program", "eager")
            return f"result {i} has a gradient in {has}, and none in {lacks}", None
    for name, gradient in one[1].items():
        if name not in other[1]:
            if bool(gradient.any()):
                return f"the program has no gradient for {name}", None
        elif found := difference(gradient, other[1][name], tolerance):
            return f"that of {name}: {found[0]}", found[1]
    return None


def _weighted(tensor: Any) -> Any:
    """A sum in which each number counts differently."""
    flat = tensor.reshape(-1)
    weights = torch.cos(torch.arange(flat.numel(), device=flat.device, dtype=torch.float64)) + 1.5
    return (flat * weights).real.sum() if flat.is_complex() else (flat.to(torch.float64) * weights).sum()
