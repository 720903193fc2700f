"""Memory that a model takes as it is, such as that of `torch.empty`: what is in there is nobody's claim."""

from __future__ import annotations

import importlib
from typing import Any

from .lazily import pytree, torch
from .pristine import undisturbed


def filled(number: int) -> Any:
    """A context in which new memory holds a number, and not what happens to be there."""
    return _modes()(number)


def takes_memory(program: Any, names: set[str]) -> bool:
    """Whether a program, or code that mentions some names, may take memory without writing to all of it."""
    graphs = (getattr(module, "graph", None) for module in program.graph_module.modules())
    targets = (str(node.target) for graph in graphs for node in getattr(graph, "nodes", ()))
    return any("empty" in name or "resize" in name for name in (*targets, *names))


@undisturbed
def defined_numbers(one: Any, other: Any) -> tuple[int, int]:
    """How many numbers and plain values two results have in common that differ by what memory held, and of how many."""
    same = every = 0
    for a, b in zip(*map(pytree.tree_leaves, (one, other))):  # noqa: B905
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and a.shape == b.shape:
            every += a.numel()
            same += int(((a == b) | ((a != a) & (b != b))).sum())
        else:
            every += 1
            same += not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor) and bool(a == b)
    return same, every


def _modes() -> Any:
    python_dispatch = importlib.import_module("torch.utils._python_dispatch")

    class Filled(python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        supports_higher_order_operators = True

        def __init__(self, number: int) -> None:
            super().__init__()
            self._number = number

        def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(getattr(operator, "overloadpacket", None), "__name__", "")
            before = _held(args[0]) if name in ("resize", "resize_") else 0
            result = operator(*args, **(kwargs or {}))
            if "empty" in name and not result.is_quantized:
                result.fill_(self._number)
            elif name in ("resize", "resize_") and _held(result) > before:
                result.as_strided((_held(result) - before,), (1,), before).fill_(self._number)
            return result

    return Filled


def _held(tensor: Any) -> int:
    """How many numbers the memory of a tensor holds."""
    return int(tensor.untyped_storage().nbytes() // tensor.element_size())
