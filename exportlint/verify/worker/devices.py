"""What a program has to do with devices."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

from .frames import frames_in_text
from .lazily import torch

_TYPES = frozenset(("cpu", "cuda", "mps", "xpu", "meta"))


def has_module(name: str) -> bool:
    """Whether a module can be imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def baked_devices(program: Any) -> list[str]:
    """What in a program names a device, with the line of the user's code it comes from."""
    found: dict[str, None] = {}
    for module in program.graph_module.modules():
        for node in getattr(getattr(module, "graph", None), "nodes", ()):
            device = node.kwargs.get("device")
            if device is None:  # `to.device`, and what stands for a `with torch.autocast(...)`
                named = (a for a in node.args if isinstance(a, torch.device) or (isinstance(a, str) and a in _TYPES))
                device = next(named, None)
            if device is None:
                continue
            frames = frames_in_text(node.meta.get("stack_trace") or "")
            place = f" (line {frames[-1]['row']} of {os.path.basename(frames[-1]['file'])})" if frames else ""
            found[f"{node.target} on {device}{place}"] = None
    constants = getattr(program, "constants", {})
    found.update((f"the constant {name} on {c.device}", None) for name, c in constants.items() if hasattr(c, "device"))
    return list(found)
