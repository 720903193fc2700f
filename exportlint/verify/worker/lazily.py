"""Torch, which is imported when something of it is wanted, as it is only then known to be there."""

from __future__ import annotations

import importlib
from typing import Any


class _Lazily:
    """A module that is imported when something of it is wanted, as it is only then known to be there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


torch: Any = _Lazily("torch")


pytree: Any = _Lazily("torch.utils._pytree")
