"""Specs become values."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .lazily import torch
from .pristine import undisturbed


@undisturbed
def make_value(spec: Any, sizes: Mapping[str, int], generator: Any, device: str) -> Any:
    """The value that a spec stands for, its numbers drawn from a generator on the CPU.

    Raises:
        ValueError: torch has no such dtype, or a size is not a number for these sizes.
    """
    kind, content = next(iter(spec.items()))
    if kind == "value":
        return content
    if kind == "dict":
        return {name: make_value(item, sizes, generator, device) for name, item in content.items()}
    if kind in ("list", "tuple"):
        items = [make_value(item, sizes, generator, device) for item in content]
        return tuple(items) if kind == "tuple" else items
    dtype = getattr(torch, content["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"torch {torch.__version__} has no dtype {content['dtype']}")
    shape = [evaluate(size, sizes) for size in content["shape"]]
    return _numbers(shape, dtype, content.get("low"), content.get("high"), generator).to(device)


def _numbers(shape: Sequence[int], dtype: Any, low: float | None, high: float | None, generator: Any) -> Any:
    """Random numbers, from `low` up to `high` where these are given.

    Integers of which nothing is known are 0 and 1: these are valid as indices, as labels and as masks.
    """
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if dtype.is_complex:
        return torch.randn(shape, generator=generator, dtype=torch.complex64).to(dtype)
    if dtype.is_floating_point:
        if low is None and high is None:
            return torch.randn(shape, generator=generator).to(dtype)
        if low is not None and high is not None:
            return (low + (high - low) * torch.rand(shape, generator=generator)).to(dtype)
        away = torch.randn(shape, generator=generator).abs() + 1e-3
        return (low + away if low is not None else high - away).to(dtype)
    first = math.ceil(low) if low is not None else min(0, math.ceil(high) - 1) if high is not None else 0
    end = math.ceil(high) if high is not None else 256 if dtype == torch.uint8 and low is None else first + 2
    return torch.randint(first, max(end, first + 1), tuple(shape), generator=generator).to(dtype)


OPERATORS: Mapping[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}


DIMENSION = (ast.Name, ast.Attribute, ast.Subscript)
"""A dimension that varies has the name that a spec gives it, or is called after its place, such as `x.shape[0]`."""


def evaluate(size: int | str, sizes: Mapping[str, int]) -> int:
    """A size, given those of the named dimensions.

    Raises:
        ValueError: it is not an expression of numbers and these names, or it is negative.
    """
    if isinstance(size, int):
        return size
    if size in sizes:
        return sizes[size]

    def value(node: ast.AST) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, DIMENSION) and ast.unparse(node) in sizes:
            return sizes[ast.unparse(node)]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(
            f"{size!r} is not a size: write numbers, {', '.join(sizes) or 'named dimensions'} and + - * // %"
        )

    try:
        found = value(ast.parse(size, mode="eval").body)
    except (SyntaxError, ZeroDivisionError, RecursionError):
        raise ValueError(f"{size!r} is not a size") from None
    if found < 0:
        raise ValueError(f"{size!r} is {found}, which is not a size")
    return found


def names_of(size: int | str) -> set[str]:
    """The named dimensions in a size."""
    if isinstance(size, int):
        return set()
    try:
        return set(_dimensions(ast.parse(size, mode="eval").body))
    except (SyntaxError, RecursionError):
        return set()


def _dimensions(node: ast.AST) -> Iterator[str]:
    if isinstance(node, DIMENSION):
        yield ast.unparse(node)
        return
    for child in ast.iter_child_nodes(node):
        yield from _dimensions(child)
