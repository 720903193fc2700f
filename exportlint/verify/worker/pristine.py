"""Torch, and what else the worker judges by, as it was before the user's code could replace parts of it."""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .lazily import torch

_Function = TypeVar("_Function", bound=Callable[..., Any])

_MODULES = ("builtins", "copy", "math", "random", "numpy.random", "torch", "torch.random", "torch.utils._pytree")
_MISSING = object()


class _Kept:
    """The attributes of a module or a class, as they were."""

    def __init__(self, holder: Any) -> None:
        self._holder = holder
        self._attributes = dict(vars(holder))
        above = {name for base in getattr(holder, "__mro__", ())[1:] for name in vars(base)}
        self._inherited = above - self._attributes.keys()

    def put_back(self) -> dict[str, Any]:
        """Undo what was changed. What this gives is what it was changed to.

        What was added to a module or a class stays, for it hides nothing, but for what a class inherits.
        """
        now = vars(self._holder)
        changed: dict[str, Any] = {}
        if not all(map(operator.is_, map(now.get, self._attributes), self._attributes.values())):
            changed = {
                n: now.get(n, _MISSING) for n, old in self._attributes.items() if now.get(n, _MISSING) is not old
            }
        changed.update((name, now[name]) for name in self._inherited.intersection(now))
        for name in changed:
            _set(self._holder, name, self._attributes.get(name, _MISSING))
        return changed

    def change(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            _set(self._holder, name, value)


def _set(holder: Any, name: str, value: Any) -> None:
    if value is not _MISSING:
        setattr(holder, name, value)
    elif name in vars(holder):
        delattr(holder, name)


_kept: list[_Kept] = []
_changed: list[dict[str, Any]] = []
"""What each of these was changed to, while they are restored."""


def keep() -> None:
    """Note what all is like, before any code of the user runs."""
    held = [sys.modules[name] for name in _MODULES if name in sys.modules]
    _kept[:] = map(_Kept, (*held, torch.Tensor))


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Have what the user's code has replaced be as it was, for what the worker itself does."""
    if _changed or not _kept:
        yield
        return
    _changed.extend(kept.put_back() for kept in _kept)
    try:
        yield
    finally:
        for kept, attributes in zip(_kept, _changed):  # noqa: B905 -- `strict` is of Python 3.10
            kept.change(attributes)
        _changed.clear()


def undisturbed(function: _Function) -> _Function:
    """Have a function of the worker see what it compares or makes as torch has it.

    No class of tensors, and no mode such as a default device, has a say in what is equal.
    """

    @functools.wraps(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        with restored(), torch._C.DisableTorchFunction():
            return function(*arguments, **keywords)

    return wrapped  # type: ignore[return-value]
