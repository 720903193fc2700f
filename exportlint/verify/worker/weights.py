"""Weights that would have to be fetched, in place of which models that nobody configured keep random ones."""

from __future__ import annotations

import os
from typing import Any

from .lazily import torch


class _NoWeights(dict[str, Any]):
    """What is loaded from a checkpoint that was not fetched, at any depth."""

    def __missing__(self, key: object) -> _NoWeights:
        return self


def fetch_no_weights() -> None:
    """From now on, have torch.hub fetch no checkpoints in this process, and models load nothing of them.

    The hub of Hugging Face has what was fetched before, and no more.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    load = torch.nn.Module.load_state_dict
    is_lacking = False

    def load_state_dict(self: Any, state_dict: Any, *arguments: Any, **keywords: Any) -> Any:
        if is_lacking and not state_dict:  # also of what code has made of it
            return torch.nn.modules.module._IncompatibleKeys([], [])
        return load(self, state_dict, *arguments, **keywords)

    def from_url(*_: object, **__: object) -> _NoWeights:
        nonlocal is_lacking
        is_lacking = True
        return _NoWeights()

    # At once: `model.load_state_dict(load_state_dict_from_url(…))` looks the method up before it asks for weights.
    torch.nn.Module.load_state_dict = load_state_dict
    torch.hub.load_state_dict_from_url = from_url
