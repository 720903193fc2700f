"""Models inside of others, and what these call them with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .calls import call, snapshot
from .entry import signature_of
from .lazily import torch
from .models import Subject
from .modules import is_of_file
from .varying import Varying, children_of, leaves_of, varying_of, with_sizes, zipped
from .words import Example, Inputs, Job


def part_of(subject: Subject, example: Example, job: Job) -> tuple[Subject, Example]:
    """The first model of the job's class that a model calls when it runs, and what it calls it with.

    What varies are the sizes that are others when the whole runs with other sizes.

    Raises:
        LookupError: it calls none. And whatever the whole raises.
    """
    whole = subject.fresh()
    varying = varying_of(whole, example, job["varying"])
    names = {id(part): name for name, part in whole.named_modules() if _is_wanted(part, job)}
    if not names:
        raise LookupError("has no such part")
    name, given = _recorded(whole, (example.arguments, dict(example.keywords)), names)
    untouched = subject.fresh().get_submodule(name)
    seen = [(sizes, _recorded_again(subject, inputs, name)) for sizes, inputs in _others(example, varying)]
    dynamic = _varying_sizes(untouched, given, varying.sizes, [(s, other) for s, other in seen if other is not None])
    return Subject(untouched, None), Example(*given, dynamic=dynamic)


def _is_wanted(part: Any, job: Job) -> bool:
    kind, model = type(part), job["model"]
    return kind.__qualname__ == model["name"] and is_of_file(kind.__module__, model["file"])


class _Called(BaseException):
    """The part has been called, which is all that is to be known."""


def _recorded(whole: Any, inputs: Inputs, names: Mapping[int, str]) -> tuple[str, Inputs]:
    """The name of the first of some parts that is called, and with what."""
    found: list[tuple[str, Inputs]] = []

    def note(part: Any, arguments: Any, keywords: Any) -> None:
        found.append((names[id(part)], snapshot((tuple(arguments), dict(keywords)))))
        raise _Called

    parts = [part for part in whole.modules() if id(part) in names]
    hooks = [part.register_forward_pre_hook(note, with_kwargs=True) for part in parts]
    try:
        outcome = call(whole, inputs, 0)
    finally:
        for hook in hooks:
            hook.remove()
    if not found:
        raise outcome.error or LookupError("does not call it when it runs")
    return found[0]


def _recorded_again(subject: Subject, inputs: Inputs, name: str) -> Inputs | None:
    whole = subject.fresh()
    try:
        return _recorded(whole, inputs, {id(whole.get_submodule(name)): name})[1]
    except Exception:  # the whole is not for such sizes
        return None


def _others(example: Example, varying: Varying) -> Iterator[tuple[Mapping[str, int], Inputs]]:
    """The example with one size after the other larger by one."""
    for key, size in varying.sizes.items():
        sizes = {**varying.sizes, key: size + 1}
        try:
            yield sizes, with_sizes(example, varying, sizes, 0)
        except (ValueError, RuntimeError, LookupError):
            continue


def _varying_sizes(
    part: Any,
    given: Inputs,
    sizes: Mapping[str, int],
    others: Sequence[tuple[Mapping[str, int], Inputs]],
) -> dict[str, Any]:
    """What varies in the inputs of a part: dimensions that have the same size before and after have one name."""
    signature = signature_of(part)
    arguments = signature.bind(*given[0], **given[1]).arguments
    names: dict[tuple[str, int, int], str] = {}
    shapes: list[dict[int, str]] = [{} for _ in leaves_of(arguments)]
    for after, inputs in others:
        key = next(key for key in sizes if after[key] != sizes[key])
        again = signature.bind(*inputs[0], **inputs[1]).arguments
        pairs = list(zipped(leaves_of(arguments), leaves_of(again)))
        for number, ((leaf, _), (other, _)) in enumerate(pairs):
            if not isinstance(leaf, torch.Tensor) or not isinstance(other, torch.Tensor) or leaf.dim() != other.dim():
                continue
            for i, (one, two) in enumerate(zipped(leaf.shape, other.shape)):
                if one != two:
                    shapes[number][i] = names.setdefault((key, one, two), _name(key, names))
    remaining = iter(shapes)
    return {name: _form(value, remaining) for name, value in arguments.items()}


def _name(key: str, names: Mapping[tuple[str, int, int], str]) -> str:
    """As it is called where the whole gets it, or by a number."""
    return key if key.isidentifier() and key not in names.values() else f"size{len(names)}"


def _form(value: Any, shapes: Iterator[Mapping[int, str]]) -> Any:
    children = children_of(value)
    if children is None:
        return dict(next(shapes)) or None
    if isinstance(value, dict):
        return {key: _form(item, shapes) for key, item in children}
    return [_form(item, shapes) for _, item in children]
