"""What a model is called with, wherever that is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .entry import signature_of
from .inferring import infer
from .lazily import pytree, torch
from .models import Subject
from .modules import load
from .specs import make_value, names_of
from .words import Example, Job


def find_example(job: Job, subject: Subject) -> Example:
    """What the model is to be called with, on the device of the job.

    Raises:
        LookupError: there is nothing of the kind. And whatever the user's code raises.
    """
    kind, content = next(iter(job["inputs"].items()))
    if kind == "written":
        return _written(content, subject.model, job["device"])
    if kind == "guessed":
        return infer(subject.fresh(), content, job["varying"], job["device"])
    if kind == "called":
        given, dynamic = load(content["function"])(), content["dynamic"]
    else:
        given, dynamic = _by_convention(job, subject.model, content), None
    arguments, keywords = to_device(as_inputs(given), job["device"])
    return Example(arguments, keywords, dynamic)


def _written(content: Mapping[str, Any], model: Any, device: str) -> Example:
    arguments, keywords, sizes = content["arguments"], content["keywords"], content["dimensions"]

    def remake(sizes: Mapping[str, int], number: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        generator = torch.Generator().manual_seed(number)
        made = tuple(make_value(spec, sizes, generator, device) for spec in arguments)
        return made, {name: make_value(spec, sizes, generator, device) for name, spec in keywords.items()}

    def named(spec: Any) -> Any:
        kind, content = next(iter(spec.items()))
        if kind == "dict":
            return {name: named(item) for name, item in content.items()}
        if kind in ("list", "tuple"):
            return [named(item) for item in content]
        if kind == "tensor":
            return {i: size for i, size in enumerate(content["shape"]) if names_of(size)}
        return None

    made, options = remake(sizes, 0)
    ranges = tuple(
        content if content.get("low") is not None or content.get("high") is not None else None
        for content in _tensor_specs([*arguments, *keywords.values()])
    )
    dynamic = None
    if sizes:
        signature = signature_of(model)
        bound = signature.bind(*map(named, arguments), **{name: named(spec) for name, spec in keywords.items()})
        dynamic = dict(bound.arguments)
    return Example(made, options, dynamic, dict(sizes), remake, ranges)


def _tensor_specs(specs: Any) -> Iterator[Mapping[str, Any]]:
    for spec in specs:
        kind, content = next(iter(spec.items()))
        if kind == "tensor":
            yield content
        elif kind in ("list", "tuple"):
            yield from _tensor_specs(content)
        elif kind == "dict":
            yield from _tensor_specs(content.values())


def _by_convention(job: Job, model: Any, content: Mapping[str, Any]) -> Any:
    name = content["name"]
    if not content["of_model"]:
        found = load({**job["model"], "name": name})
    elif hasattr(model, name):
        found = getattr(model, name)
    else:
        raise LookupError(f"{type(model).__name__} has no {name}")
    return found() if callable(found) and not isinstance(found, torch.nn.Module) else found


def as_inputs(given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a function gives as inputs: a tensor, the arguments, `(arguments, keywords)`, or keywords alone."""
    if isinstance(given, Mapping):
        return (), dict(given)
    if isinstance(given, (list, tuple)) and not hasattr(given, "_fields"):
        if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], Mapping):
            return tuple(given[0]), dict(given[1])
        return tuple(given), {}
    return (given,), {}


def to_device(inputs: Any, device: str) -> Any:
    """Inputs with their tensors on a device."""
    return pytree.tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, inputs)
