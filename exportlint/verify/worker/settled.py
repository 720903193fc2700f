"""Programs of which an earlier run knows what becomes of them: the same graph is decomposed and saved alike."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from .lazily import torch

_TORCHS_OWN = ("aten.", "prims.", "<built-in ", "<function sym_", "torch.sym_")


def digest_of(program: Any) -> str | None:
    """What programs have in common that decompose and save alike; None where operators of others may do otherwise."""
    try:
        return _digest_of(program)
    except Exception:  # of programs that are not as those of this torch are
        return None


def _digest_of(program: Any) -> str | None:
    parts = [
        str(torch.__version__),
        str(program.graph_signature),
        str(sorted(map(str, program.range_constraints.items()))),
    ]
    for module in program.graph_module.modules():
        graph = getattr(module, "graph", None)
        for node in getattr(graph, "nodes", ()):
            if node.op == "call_function" and not str(node.target).startswith(_TORCHS_OWN):
                return None
            value = node.meta.get("val")
            parts.append(f"{node.op} {node.name} {node.target} {node.args} {node.kwargs} {_form(value)}")
    held = {**program.state_dict, **program.constants}
    parts += [f"{name} {_form(value)} {getattr(value, 'requires_grad', '')}" for name, value in sorted(held.items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_settled(directory: str | None, digest: str | None) -> bool:
    """Whether an earlier run has found that such a program keeps its results."""
    return bool(directory and digest) and os.path.exists(os.path.join(str(directory), f"{digest}.program"))


def _form(value: Any) -> str:
    """What a value is, but for its numbers."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {tuple(value.shape)} {value.stride()} {value.device}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_form, value))}]"
    return type(value).__name__
