"""How far a call comes, and which inputs go into what."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from .candidates import Candidate
from .lazily import torch
from .own import HERE
from .trees import Place, leaf_specs


class Budget:
    """Seconds that may be worked; on a machine that is busy with other things it may take four times as long."""

    def __init__(self, seconds: float) -> None:
        self.work = time.process_time() + seconds
        self.wall = time.monotonic() + 4 * seconds

    def is_spent(self) -> bool:
        """Whether it is over."""
        return time.process_time() > self.work or time.monotonic() > self.wall


class OutOfTimeError(BaseException):
    """Ends a call that takes too long; no model catches it by catching `Exception`."""


@functools.cache
def spy_class() -> Any:
    """The class that looks at each operation of torch; made when torch is there."""
    from torch import nn
    from torch.overrides import TorchFunctionMode

    class Spy(TorchFunctionMode):  # type: ignore[misc]  # a class of torch
        """Counts what a call gets done, and follows the inputs to the operation that fails."""

        def __init__(self, budget: Budget) -> None:
            super().__init__()
            self.budget = budget
            self.done: set[Any] = set()
            self.marks: set[Place] = set()
            self.sizes: tuple[int, ...] = ()

        @property
        def depth(self) -> int:
            return len(self.done)

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if self.budget.is_spent():
                raise OutOfTimeError
            given = list(tensors_in([args, kwargs or {}]))
            sources = {path for tensor in given for path in marks_of(tensor)}
            weights = [tensor for tensor in given if isinstance(tensor, nn.Parameter)]
            try:
                result = func(*args, **(kwargs or {}))
            except Exception:
                self.marks = sources
                self.sizes = tuple(size for weight in weights for size in weight.shape)
                raise
            self.marks = set()  # what went wrong before was caught
            frame = user_frame()
            self.done.add((frame, getattr(func, "__name__", ""), *map(id, weights)))
            if sources:
                for tensor in tensors_in(result):
                    if not hasattr(tensor, "_exportlint_path"):
                        tensor._exportlint_from = sources | marks_of(tensor)
            return result

    return Spy


def user_frame() -> tuple[str, int]:
    """The place in the code of others than torch that is being run."""
    inside = (os.path.dirname(torch.__file__), HERE)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def marks_of(tensor: Any) -> frozenset[Place] | set[Place]:
    """The inputs that a tensor was computed from."""
    path = getattr(tensor, "_exportlint_path", None)
    marks: frozenset[Place] | set[Place] = getattr(tensor, "_exportlint_from", frozenset())
    return marks if path is None else marks | {path}


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def mark_inputs(candidate: Candidate, values: Mapping[str, Any]) -> None:
    """Write on each tensor which input it is."""
    for path, leaf in leaf_specs(candidate.specs):
        if "tensor" in leaf:
            value: Any = values
            for step in path:
                value = value[step]
            value._exportlint_path = path
