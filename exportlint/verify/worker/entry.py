"""The function of a model that torch.export traces: `forward`, or `__call__` where that is all it has."""

from __future__ import annotations

import inspect
from typing import Any

from .lazily import torch


def entry_of(model: Any) -> Any:
    """The bound method that says what a call of the model takes."""
    kind = type(model)
    has_forward = getattr(kind, "forward", None) is not torch.nn.Module.forward or "forward" in vars(model)
    return model.__call__ if not has_forward and kind.__call__ is not torch.nn.Module.__call__ else model.forward


def signature_of(model: Any) -> inspect.Signature:
    """What a call of the model takes. TorchScript has a schema in place of a signature.

    Raises:
        ValueError: it has neither.
    """
    entry = entry_of(model)
    try:
        return inspect.signature(entry)
    except ValueError:
        schema = getattr(entry, "schema", None)
        if schema is None:
            raise
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = [argument.name for argument in schema.arguments if argument.name != "self"]
        return inspect.Signature([inspect.Parameter(name, kind) for name in names])


def is_called_itself(model: Any) -> bool:
    """Whether a model has a `__call__` in place of `forward`: torch then knows one input, `*input`."""
    return getattr(entry_of(model), "__name__", "") == "__call__"
