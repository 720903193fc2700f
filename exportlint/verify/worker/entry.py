"""The function of a model that torch.export traces: `forward`, or `__call__` where that is all it has."""

from __future__ import annotations

from typing import Any

from .lazily import torch


def entry_of(model: Any) -> Any:
    """The bound method that says what a call of the model takes."""
    kind = type(model)
    has_forward = getattr(kind, "forward", None) is not torch.nn.Module.forward or "forward" in vars(model)
    return model.__call__ if not has_forward and kind.__call__ is not torch.nn.Module.__call__ else model.forward


def is_called_itself(model: Any) -> bool:
    """Whether a model has a `__call__` in place of `forward`: torch then knows one input, `*input`."""
    return getattr(entry_of(model), "__name__", "") == "__call__"
