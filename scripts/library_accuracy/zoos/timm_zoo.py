"""Two small variants of each family of timm, at the smallest size that each takes."""

import re
from collections.abc import Iterator
from typing import Any

import timm
from timm.models import get_pretrained_cfg

WORDS = (
    "test",
    "atto",
    "femto",
    "pico",
    "nano",
    "zepto",
    "_xxs",
    "xxt",
    "_xs",
    "_xt",
    "tiny",
    "_t0",
    "_s0",
    "_b0",
    "_0",
    "small",
)
"""What variants are called that are small, the smallest first."""


def cases() -> Iterator[dict[str, Any]]:
    """One case for each, in the order of modules."""
    rounds: list[list[str]] = [[], []]
    for module in timm.list_modules():
        names = sorted(timm.list_models(module=module), key=_size)
        if names:
            rounds[0].append(names[0])
            rounds[1] += [name for name in names[1:] if name[:5] != names[0][:5]][:1]
    for name in (*rounds[0], *rounds[1]):
        yield {"model": "timm:create_model", "arguments": [name], "inputs": [_input(name)]}


def _size(name: str) -> tuple[int, int, str]:
    number = re.search(r"\d+", name)
    rank = next((i for i, word in enumerate(WORDS) if word in name), len(WORDS))
    return rank, int(number[0]) if number else 0, name


def _input(name: str) -> str:
    known = get_pretrained_cfg(name)
    channels, height, width = known.input_size if known else (3, 224, 224)
    if known is not None and not known.fixed_input_size and known.pool_size:
        least = known.min_input_size[1] if known.min_input_size else 2 * height // known.pool_size[0]
        height = width = max(least, 64)
    return f"float32[2, {channels}, {height}, {width}]"
