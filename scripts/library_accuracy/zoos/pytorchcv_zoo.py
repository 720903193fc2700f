"""A model of each file of pytorchcv, on the smallest image that it takes."""

import re
from collections.abc import Iterator
from typing import Any

import torch
from pytorchcv.model_provider import _models, get_model

IMAGES = (32, 64, 96, 224)
LARGEST = 12_000_000
SIGNATURES = {"most": 0}


def cases() -> Iterator[dict[str, Any]]:
    """One case for each file, in the order of their names."""
    modules: dict[str, list[str]] = {}
    for name, make in _models.items():
        modules.setdefault(make.__module__, []).append(name)
    for _, names in sorted(modules.items()):
        for name in sorted(names, key=_size)[:2]:
            case = _case(name)
            if case is not None:
                yield case
                break


def _case(name: str) -> dict[str, Any] | None:
    for size in IMAGES:
        for keywords in ({"in_size": [size, size]}, {}):
            try:
                with torch.device("meta"):
                    made = get_model(name, **keywords)
                if sum(weight.numel() for weight in made.parameters()) > LARGEST:
                    return None
                model = get_model(name, **keywords).eval()
                with torch.no_grad():
                    model(torch.rand(2, 3, size, size))
            except Exception:
                continue
            inputs = [f"float32[2, 3, {size}, {size}]"]
            model_name = "pytorchcv.model_provider:get_model"
            return {"model": model_name, "arguments": [name], "keywords": keywords, "inputs": inputs}
    return None


def _size(name: str) -> tuple[int, str]:
    numbers = [int(found) for found in re.findall(r"\d+", name)]
    return min(numbers, default=0), name
