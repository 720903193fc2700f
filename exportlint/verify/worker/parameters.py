"""What `forward` wants, and what the first layers do."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .copies import faithful_copy
from .entry import signature_of
from .lazily import torch
from .trees import DIMENSIONS

Wish = tuple[
    str, Sequence[str], Mapping[str, int], Any
]  # a dtype, dimensions, sizes of some, and a bound of the numbers


def wish_of(layer: Any) -> Wish | None:
    """The dtype, dimensions, sizes and bound of the input of a layer, by what its attributes are called."""

    def number(name: str) -> int | None:
        value = layer.__dict__.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    weight: Any = getattr(layer, "weight", None)
    is_tensor = isinstance(weight, torch.Tensor) and not torch.nn.parameter.is_lazy(weight)
    rank = weight.dim() if is_tensor else 0
    floating = floating_dtype(layer)
    if entries := number("num_embeddings"):
        return "int64", ("batch", "length"), {}, min(entries, 100)
    if (channels := number("in_channels")) and rank in (3, 4, 5):
        return (
            floating,
            ("batch", "channels", "length") if rank == 3 else DIMENSIONS[rank],
            {"channels": channels},
            None,
        )
    if (channels := number("num_features")) and (digit := re.search(r"([123])d$", type(layer).__name__)):
        rank = {"1": 2, "2": 4, "3": 5}[digit.group(1)]
        dims = ("batch", "channels") if rank == 2 else DIMENSIONS[rank]
        return floating, dims, {"channels": channels}, None
    for name, rank in (("in_features", 2), ("in1_features", 2), ("input_size", 3), ("embed_dim", 3), ("d_model", 3)):
        if features := number(name):
            return floating, DIMENSIONS[rank], {"features": features}, None
    shape = layer.__dict__.get("normalized_shape")
    if isinstance(shape, (tuple, list)) and len(shape) == 1 and isinstance(shape[0], int):
        return floating, DIMENSIONS[3], {"features": shape[0]}, None
    return None


def floating_dtype(model: Any) -> str:
    """The dtype of the first parameter with real numbers, which inputs have to have, too, in most models."""
    found = next((tensor.dtype for tensor in model.parameters() if tensor.is_floating_point()), torch.float32)
    return str(found).rpartition(".")[2]


def duplicate(model: Any, *, share: bool = False) -> Any:
    """A copy, so that no call changes what the next one sees; `share` leaves the parameters as they are, to be fast."""
    memo = {id(parameter): parameter for parameter in model.parameters()} if share else {}
    try:
        return faithful_copy(model, memo)
    except Exception:
        return model


def parameters_of(model: Any) -> dict[str, inspect.Parameter]:
    """What `forward` takes."""
    try:
        return dict(signature_of(model).parameters)
    except (TypeError, ValueError) as error:
        raise LookupError(f"`forward` does not say what it takes: {error}") from None


def is_needed(parameter: inspect.Parameter) -> bool:
    """Whether a call must give it."""
    return parameter.default is parameter.empty and parameter.kind not in (
        parameter.VAR_KEYWORD,
        parameter.VAR_POSITIONAL,
    )
