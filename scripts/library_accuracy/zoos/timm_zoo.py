"""A small model of each file of timm, as small as its arguments allow."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import timm
import torch

WORDS = (
    "test", "atto", "femto", "pico", "nano", "zepto", "_xxs", "xxt", "_xs", "_xt", "tiny", "_t0", "_s0", "_b0", "_0", "small",
)  # fmt: skip
"""What variants are called that are small, the smallest first."""

DEPTHS: tuple[dict[str, Any], ...] = (
    {"depth": 1},
    {"depths": [1, 1, 1, 1]},
    {"depths": [1, 1, 1]},
    {"layers": [1, 1, 1, 1]},
    {"depths": [1, 1, 1, 1, 1]},
    {},
)
IMAGES = (64, 96, 128, 224, 256)
LARGEST = 30_000_000
SIGNATURES = {"most": 0}


def cases() -> Iterator[dict[str, Any]]:
    """One case for each, in the order of modules."""
    for module in timm.list_modules():
        for name in sorted(timm.list_models(module=module), key=_size)[:3]:
            case = _case(name)
            if case is not None:
                yield case
                break


def _case(name: str) -> dict[str, Any] | None:
    for size, depth in itertools.product(IMAGES, DEPTHS):
        for keywords in ({"img_size": size, **depth}, depth):
            try:
                with torch.device("meta"):
                    made = timm.create_model(name, **keywords)
                if sum(weight.numel() for weight in made.parameters()) > LARGEST:
                    continue
                model = timm.create_model(name, **keywords).eval()
                with torch.no_grad():
                    model(torch.rand(2, 3, size, size))
            except Exception:
                continue
            inputs = [f"float32[2, 3, {size}, {size}]"]
            return {"model": "timm:create_model", "arguments": [name], "keywords": keywords, "inputs": inputs}
    return None


def _size(name: str) -> tuple[int, int, str]:
    number = re.search(r"\d+", name)
    rank = next((i for i, word in enumerate(WORDS) if word in name), len(WORDS))
    return rank, int(number[0]) if number else 0, name
