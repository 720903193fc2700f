"""What code of the project sees in place of globals and of the modules that it imports, and it alone."""

from __future__ import annotations

import builtins
import contextlib
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Instead = Callable[[Any], Any]
"""What is seen in place of a value; None for one that stays."""


@contextlib.contextmanager
def shadowed(
    modules: Sequence[Any], model: Any, instead: Instead, adds: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Have modules of the project, and the parts of a model, see other values.

    This holds for their globals, for what their functions import meanwhile, and for what the parts of the model keep in
    attributes. `adds` are names that modules which do not bind them see as globals, so builtins can be replaced.
    """
    before: list[tuple[dict[str, Any], dict[str, Any], set[str]]] = []
    holders = [vars(module) for module in modules]
    for i, holder in enumerate((*holders, *map(vars, model.modules()))):
        added = {name: new for name, new in (adds or {}).items() if name not in holder} if i < len(holders) else {}
        changed = {name: new for name, old in list(holder.items()) if (new := instead(old)) is not None}
        before.append((holder, {name: holder[name] for name in changed}, set(added)))
        holder.update({**added, **changed})
    original: Any = builtins.__import__
    own = {id(holder) for holder in holders}

    def imported(name: str, where: Any = None, *rest: Any, **options: Any) -> Any:
        found = original(name, where, *rest, **options)
        new = instead(found) if id(where) in own else None
        return found if new is None else new

    builtins.__import__ = imported  # type: ignore[assignment]
    try:
        yield
    finally:
        builtins.__import__ = original
        for holder, old, new in before:
            holder.update(old)
            for name in new:
                holder.pop(name, None)


def copied_module(module: types.ModuleType, instead: Instead) -> types.ModuleType:
    """A module with other values for some of its names."""
    copied = types.ModuleType(module.__name__)
    for name, value in vars(module).items():
        new = instead(value)
        copied.__dict__[name] = value if new is None else new
    return copied
