"""Tensors in the global variables of a project, which calls may write to and copies of a model share."""

from __future__ import annotations

import sys
from typing import Any

from .frames import is_of_project
from .lazily import torch


class GlobalTensors:
    """Holds what global tensors are at one time, so that a later call can begin with that.

    Tensors with more than `largest` numbers are left alone.
    """

    def __init__(self, root: str, largest: int) -> None:
        self._root = root
        self._largest = largest
        self._held = [(tensor, tensor.detach().clone(), tensor._version) for tensor in self._found()]

    def now(self) -> GlobalTensors:
        """What the tensors are now."""
        return GlobalTensors(self._root, self._largest)

    def restore(self) -> None:
        """Give those that were written to since then the values that they had."""
        for index, (tensor, values, version) in enumerate(self._held):
            if tensor._version != version and tensor.shape == values.shape:
                with torch.no_grad():
                    tensor.detach().copy_(values)
                self._held[index] = (tensor, values, tensor._version)

    def _found(self) -> list[Any]:
        modules = [vars(module) for module in list(sys.modules.values()) if hasattr(module, "__dict__")]
        files = [(names, names.get("__file__")) for names in modules]
        own = [names for names, file in files if isinstance(file, str) and is_of_project(file, self._root)]
        values = {id(value): value for names in own for value in list(names.values()) if type(value) is torch.Tensor}
        return [tensor for tensor in values.values() if tensor.layout is torch.strided and self._is_small(tensor)]

    def _is_small(self, tensor: Any) -> bool:
        return 0 < tensor.numel() <= self._largest and not tensor.is_inference()
