"""The dimensions of an example that vary."""

from __future__ import annotations

import ast
import collections
import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .entry import is_called_itself, signature_of
from .lazily import pytree, torch
from .specs import OPERATORS, evaluate
from .texts import with_article
from .words import Example, Inputs

_FAR = 16
"""So many times the size of the example is still tried where a bound is: what is larger may take long."""

_SMALL = 2**18
"""Inputs of so many numbers take no time, however often they are the example."""

_VERY_FAR = 1024
_LARGEST = 2**22
"""So many times the size of the example, and inputs of so many numbers, are tried if it is likely to matter."""
_WITHOUT_END = 2**40
"""A bound that no size comes to."""


@dataclass(frozen=True)
class Size:
    """A dimension that varies: `key` is a name, an expression over names, or a place; `given` is what torch takes."""

    key: str
    given: Any = None


@dataclass
class Varying:
    """Which dimensions of an example vary: for each leaf of the arguments of `forward`, by number.

    `sizes` are those of the example by the keys of `Size` that are not expressions; `limits` those that `Dim`s set.
    `rows` says how many numbers the example has for one of each.
    """

    signature: inspect.Signature
    is_called_itself: bool = False
    leaves: list[dict[int, Size]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    rows: collections.Counter[str] = field(default_factory=collections.Counter)

    def add(self, leaf: Any, given: Mapping[int, Any], path: str) -> None:
        """Take up a leaf, with what the user gives for some of its dimensions."""
        found: dict[int, Size] = {}
        for i, size in given.items():
            if not isinstance(leaf, torch.Tensor) or not -leaf.dim() <= i < leaf.dim():
                what = f"{leaf.dim()} dimensions" if isinstance(leaf, torch.Tensor) else with_article(leaf)
                raise ValueError(f"dynamic shapes: {path} has no dimension {i}, it is {what}")
            i %= leaf.dim()
            if isinstance(size, int) or size is None or "STATIC" in str(getattr(size, "type", "")):
                continue
            found[i] = self._size(size, leaf.size(i), f"{path}.shape[{i}]")
            self.rows[found[i].key] += leaf.numel() // max(leaf.size(i), 1)
        self.leaves.append(found)

    def is_near(self, key: str, other: int) -> bool:
        """Whether an example with another size takes hardly longer than this one."""
        return other <= _FAR * self.sizes[key] or other * self.rows[key] <= _SMALL

    def is_affordable(self, key: str, other: int) -> bool:
        """Whether an example with another size can be tried once, if a call with this one takes no time."""
        return other <= _VERY_FAR * self.sizes[key] and other * self.rows[key] <= _LARGEST

    def _size(self, given: Any, length: int, place: str) -> Size:
        key = given if isinstance(given, str) else getattr(given, "__name__", None)
        if not isinstance(key, str):  # Dim.AUTO and its like: those that are as long vary together
            same = (k for k, known in self.sizes.items() if known == length and ".shape[" in k)
            key = next(same, place)
        if key.isidentifier() or key == place:
            self.sizes.setdefault(key, length)
        low, high = getattr(given, "min", None), getattr(given, "max", None)
        if isinstance(low, int) or isinstance(high, int):
            self.limits[key] = (low if isinstance(low, int) else 0, high if isinstance(high, int) else math.inf)
        return Size(key, None if isinstance(given, str) else given)


def varying_of(model: Any, example: Example, everywhere: Sequence[int]) -> Varying:
    """What varies of an example: what it says, or else those dimensions of every tensor.

    Raises:
        ValueError: it does not go with the arguments.
    """
    signature = signature_of(model)
    arguments = signature.bind(*example.arguments, **example.keywords).arguments
    varying = Varying(signature, is_called_itself(model))
    dynamic = example.dynamic
    if hasattr(dynamic, "dynamic_shapes"):  # torch's ShapesCollection and AdditionalInputs
        dynamic = dynamic.dynamic_shapes(model, example.arguments, dict(example.keywords))
    if isinstance(dynamic, (list, tuple)):
        if len(dynamic) > len(arguments):
            raise ValueError(f"dynamic shapes: there are {len(dynamic)}, and {len(arguments)} arguments")
        dynamic = dict(zipped(arguments, dynamic))
    if dynamic is None and everywhere:
        auto = getattr(torch.export.Dim, "AUTO", "")
        for leaf, path in leaves_of(arguments):
            rank = leaf.dim() if isinstance(leaf, torch.Tensor) else 0
            varying.add(leaf, {i: auto or f"d{len(varying.leaves)}_{i}" for i in everywhere if i < rank}, path)
        return varying
    if not isinstance(dynamic or {}, Mapping):
        raise ValueError(f"dynamic shapes: {with_article(dynamic)} is neither a list nor a table by parameters")
    if unknown := set(dynamic or ()) - set(arguments):
        raise ValueError(f"dynamic shapes: no argument is called {', '.join(sorted(map(str, unknown)))}")
    for name, value in arguments.items():
        _spread(value, (dynamic or {}).get(name), name, varying)
    return varying


def zipped(one: Iterable[Any], other: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs, in every version of Python."""
    return zip(one, other)  # noqa: B905 -- `strict` is of Python 3.10


def leaves_of(arguments: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """What torch sees in the arguments, with where it is."""
    for name, value in arguments.items():
        parts = pytree.tree_leaves(value)
        single = len(parts) == 1 and parts[0] is value
        yield from ((part, name if single else f"{name}[{i}]") for i, part in enumerate(parts))


def _spread(value: Any, spec: Any, path: str, varying: Varying) -> None:
    """Bring what the user gives for a value to its leaves."""
    children = children_of(value)
    if children is None:
        if isinstance(spec, (list, tuple)):
            spec = dict(enumerate(spec))
        if not isinstance(spec or {}, Mapping):
            raise ValueError(
                f"dynamic shapes: {with_article(spec)} for {path} is neither a list nor a table of its dimensions"
            )
        varying.add(value, {int(i): size for i, size in (spec or {}).items()}, path)
        return
    if isinstance(spec, (list, tuple)) and len(spec) != len(children):
        raise ValueError(f"dynamic shapes: {len(spec)} for {path}, which has {len(children)} items")
    for i, (key, item) in enumerate(children):
        given = spec.get(key) if isinstance(spec, Mapping) else None if spec is None else spec[i]
        _spread(item, given, f"{path}[{key!r}]", varying)


def children_of(value: Any) -> list[tuple[Any, Any]] | None:
    """What is in a container, with the keys; None if it is none that torch knows."""
    if isinstance(value, dict) and type(value) in pytree.SUPPORTED_NODES:
        return list(value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(enumerate(value))
    node = pytree.SUPPORTED_NODES.get(type(value))
    return None if node is None else list(enumerate(node.flatten_fn(value)[0]))


def with_sizes(example: Example, varying: Varying, sizes: Mapping[str, int], seed: int) -> Inputs:
    """The inputs of an example with other sizes: made anew where it has names for all of these, else resized."""
    if example.remake is not None and sizes.keys() <= example.sizes.keys():
        return example.remake(sizes, seed)
    return resized(example, varying, sizes)


def resized(example: Example, varying: Varying, sizes: Mapping[str, int]) -> Inputs:
    """The inputs of an example with other sizes: its tensors are repeated, or cut."""
    bound = varying.signature.bind(*example.arguments, **example.keywords)
    leaves, structure = pytree.tree_flatten(dict(bound.arguments))
    for number, sized in enumerate(varying.leaves):
        for i, size in sized.items():
            leaf = leaves[number]
            length = sizes[size.key] if size.key in sizes else evaluate(size.key, sizes)  # a place is no expression
            rows = torch.arange(length, device=leaf.device) % leaf.size(i)
            leaves[number] = leaf.index_select(i, rows)
    bound.arguments.update(pytree.tree_unflatten(leaves, structure))
    return bound.args, bound.kwargs


def beyond(program: Any) -> list[int]:
    """The sizes next to those that a program is for, where torch knows of bounds."""
    bounds = list(getattr(program, "range_constraints", {}).values())
    sizes = [edge for bound in bounds for edge in (_number(bound.lower, -1), _number(bound.upper, 1))]
    return sorted({size for size in sizes if size is not None})


def _number(bound: Any, step: int) -> int | None:
    # What is infinite is so in several ways of torch's and sympy's, and does not become an `int`.
    return int(bound) + step if str(bound).lstrip("-").isdecimal() else None


_MOST_TELLING = 6
"""How many sizes are tried of those that guards and the code of the model name."""


def other_sizes(
    varying: Varying, more: Iterable[int] = (), telling: Iterable[int] = ()
) -> Iterator[tuple[str, dict[str, int]]]:
    """Other sizes of what varies, each dimension by itself, with what to call them; also `more` ones if not far off.

    Of a dimension with bounds, these, and what is between them; of the sizes that are `telling`, the first few.
    """
    telling = list(telling)
    for name, size in varying.sizes.items():
        low, high = varying.limits.get(name, (0, math.inf))
        ends = [bound for bound in (low, high) if 0 < bound < math.inf]
        inside = [int(bound) for bound in (*ends, (low + high) // 2 if high < math.inf else 0, *more)]
        near = [other for other in inside if other > 0 and varying.is_near(name, other)]
        found = [n for n in telling if n not in (1, size) and low <= n <= high and varying.is_near(name, n)]
        for other in dict.fromkeys((size + 1, 2 * size, 1, *near, *found[:_MOST_TELLING])):
            if other != size and low <= other <= high:
                yield f"{name} = {other}", {**varying.sizes, name: other}


def far_sizes(varying: Varying, more: Iterable[int]) -> Iterator[tuple[str, int]]:
    """The dimensions and those of `more` sizes that they may have and that `other_sizes` leaves out as too far off."""
    for name in varying.sizes:
        low, high = varying.limits.get(name, (0, math.inf))
        sizes = (n for n in more if 0 < n < _WITHOUT_END and low <= n <= high)
        yield from ((name, n) for n in sizes if not varying.is_near(name, n))


def dynamic_shapes(example: Example, varying: Varying, how: str) -> dict[str, Any] | None:
    """What torch.export is told of what varies; `how` is for those dimensions of which the user gives a name only."""
    if not any(varying.leaves):
        return None
    hint = getattr(torch.export.Dim, "DYNAMIC" if how == "dynamic" else "AUTO", None)
    dims: dict[str, Any] = {}

    def dim(size: Size) -> Any:
        if size.given is not None and not (how == "dynamic" and size.given is getattr(torch.export.Dim, "AUTO", None)):
            return size.given
        return hint if hint is not None else _dim(size.key, dims)

    def form(value: Any) -> Any:
        children = children_of(value)
        if children is None:
            return {i: dim(size) for i, size in next(remaining).items()} or None
        if isinstance(value, dict):
            return {key: form(item) for key, item in children}
        return tuple(form(item) for _, item in children) if isinstance(value, tuple) else [form(i) for _, i in children]

    remaining = iter(varying.leaves)
    arguments = varying.signature.bind(*example.arguments, **example.keywords).arguments
    found = {name: form(value) for name, value in arguments.items()}
    return {"input": tuple(found.values())} if varying.is_called_itself else found


def _dim(key: str, known: dict[str, Any]) -> Any:
    """A dimension of torch older than 2.6, which needs names: `batch`, or what is derived from one, as `2*batch`."""
    if key.isidentifier():
        return known.setdefault(key, torch.export.Dim(key))

    def value(node: ast.AST) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return _dim(node.id, known)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(f"torch {torch.__version__} cannot have {key} vary")

    return value(ast.parse(key, mode="eval").body)
