"""Sizes at which a program may do something else than the model: those that its guards name, and those they refuse."""

from __future__ import annotations

import collections
import contextlib
import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .lazily import pytree, torch
from .specs import evaluate
from .varying import Size, Varying, zipped
from .words import Example

_MOST_GUARDS = 32
_MOST_SIZES = 256
_MOST_REFUSED = 8
_DRAWN = 2048


def guarded_numbers(program: Any, module: Any) -> list[int]:
    """The numbers that a program compares sizes with, in its guards and its runtime assertions."""
    text = "\n".join(map(str, getattr(program, "_guards_code", None) or ()))
    for part in module.modules():
        for node in getattr(getattr(part, "graph", None), "nodes", ()):
            if node.op == "call_function" and getattr(node.target, "__module__", "") == "_operator":
                text += " ".join(f" {argument} " for argument in node.args if type(argument) is int)
    # Not those of indices and names: `L['x'].size()[1] != 16`.
    return sorted({int(number) for number in re.findall(r"(?<![\w\[.])\d{1,5}(?![\w\].])", text)} - {0})


def refused_sizes(program: Any, example: Example, varying: Varying) -> Iterator[tuple[str, dict[str, int]]]:
    """Sizes that guards refuse, near those of the example, with what to call them.

    A guard may have any expression: `3*L['x'].size()[0] != 48`. Dimensions are changed one by one, and then together
    for guards that refuse nothing so.
    """
    texts = [text for text in getattr(program, "_guards_code", None) or () if ".size()" in text]
    guards = []
    for text in list(dict.fromkeys(texts))[:_MOST_GUARDS]:
        with contextlib.suppress(SyntaxError):
            guards.append(compile(text, "<guard>", "eval"))
    if not guards:
        return
    arguments = dict(varying.signature.bind(*example.arguments, **example.keywords).arguments)
    leaves, structure = pytree.tree_flatten(arguments)
    keyed = list(zipped(leaves, varying.leaves))
    refused = collections.Counter[int]()

    def is_refused_anew(sizes: Mapping[str, int], most: int) -> bool:
        sized = (_Sized(leaf, keys, sizes) if isinstance(leaf, torch.Tensor) else leaf for leaf, keys in keyed)
        names = {"L": pytree.tree_unflatten(list(sized), structure), "math": math}
        by = []
        for i, guard in enumerate(guards):
            with contextlib.suppress(Exception):  # functions of torch's, and sizes that are no expressions
                if refused[i] < most and not eval(guard, names):  # noqa: S307 - torch wrote it
                    by.append(i)
        refused.update(by)
        return bool(by)

    near = {name: _near(name, varying) for name in varying.sizes}
    single = ({name: other} for name, others in near.items() for other in others)
    draw = random.Random(0)  # noqa: S311
    several = len(near) > 1 and all(near.values())
    joint = ({name: draw.choice(others) for name, others in near.items()} for _ in range(_DRAWN if several else 0))
    told = 0
    for change in itertools.chain(single, joint):
        if told < _MOST_REFUSED and is_refused_anew({**varying.sizes, **change}, 2 if len(change) == 1 else 1):
            told += 1
            yield ", ".join(f"{name} = {n}" for name, n in change.items()), {**varying.sizes, **change}


def _near(name: str, varying: Varying) -> list[int]:
    """The sizes that a dimension could have, those next to that of the example first."""
    size, (low, high) = varying.sizes[name], varying.limits.get(name, (0, math.inf))
    sizes = (n for n in range(2, _MOST_SIZES) if n != size and low <= n <= high and varying.is_near(name, n))
    return sorted(sizes, key=lambda other: abs(other - size))


class _Sized:
    """A tensor as far as guards about sizes know it."""

    def __init__(self, leaf: Any, keys: Mapping[int, Size], sizes: Mapping[str, int]) -> None:
        self._shape = [evaluate(keys[i].key, sizes) if i in keys else n for i, n in enumerate(leaf.shape)]

    def size(self) -> list[int]:
        return self._shape
