"""What lists, dictionaries and sets contain once code has changed them: the whole of it, whichever names they have."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import NONE, UNKNOWN, Const, Dict, Sequence, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of, doubtful, elements
from exportlint.analysis.eval.frame import Frame

MAX_ITEMS = 16
"""Items of a list that are told apart as it grows."""


def one_of(values: Iterable[Value]) -> Value:
    """One of some items of which it is not known where each stands: only what all are is it surely."""
    values = tuple(values)
    item = join(values) if values else UNKNOWN
    return item if all(data_of(value) is not None for value in values) else doubtful(item)


def of_unknown_length(container: Tuple | Sequence, *added: Value) -> Value:
    """A list that holds any number of what it holds, and of what is added."""
    held = container.items if isinstance(container, Tuple) else (container.item,)
    if isinstance(container, Sequence) and not added:
        return container
    return Sequence(one_of((*held, *added)), container.type if isinstance(container, Sequence) else "list")


def position(container: Tuple, key: Value | None) -> int | None:
    """The place of an item that a key surely names."""
    if (
        isinstance(key, Const)
        and isinstance(key.value, int)
        and -len(container.items) <= key.value < len(container.items)
    ):
        return key.value % len(container.items)
    return None


def stored(container: Value, key: Value, value: Value) -> Value:
    """A container after `container[key] = value`."""
    if isinstance(container, Dict):
        if isinstance(key, Const):
            return container.updated(key.value, value)
        return Dict(container.entries, value if container.rest is None else join((container.rest, value)))
    if isinstance(container, Tuple) and container.items:
        place = position(container, key)
        if place is not None:
            return replace(container, items=(*container.items[:place], value, *container.items[place + 1 :]))
        return replace(container, items=tuple([one_of((item, value)) for item in container.items]))
    if isinstance(container, Sequence):
        return Sequence(join((container.item, value)), container.type)
    return container


def stored_slice(frame: Frame, container: Value, bounds: slice | None, value: Value, node: ast.AST) -> Value:
    """A container after `container[…:…] = value`."""
    if not isinstance(container, (Tuple, Sequence)):
        return container
    if isinstance(value, Tuple) and isinstance(container, Tuple) and bounds is not None and not frame.repeats:
        items = list(container.items)
        try:
            items[bounds] = value.items
        except ValueError:  # an extended slice of another length
            return container
        return replace(container, items=tuple(items))
    if bounds == slice(None):
        return Sequence(elements(frame, value, node), container.type if isinstance(container, Sequence) else "list")
    return of_unknown_length(container, elements(frame, value, node))


def deleted(container: Value, key: Value | slice | None) -> Value:
    """A container after `del container[key]`; None is a key of which nothing is known."""
    if isinstance(container, Tuple):
        items = list(container.items)
        place = None if isinstance(key, slice) else position(container, key)
        if place is None and not isinstance(key, slice):
            return of_unknown_length(container)
        del items[key if isinstance(key, slice) else place or 0]
        return replace(container, items=tuple(items))
    if isinstance(container, Dict):
        if isinstance(key, Const):
            return replace(container, entries=tuple([entry for entry in container.entries if not _is(entry[0], key)]))
        return Dict((), one_of(container.parts())) if container.entries else container
    return container


def _is(key: object, const: Const) -> bool:
    return bool(key == const.value) and type(key) is type(const.value)


def changed_by(frame: Frame, container: Value, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
    """What a container is after a method changed it; None for what is no container."""
    if isinstance(container, Dict):
        return _changed_dict(container, name, arguments)
    if isinstance(container, Sequence) and container.type == "set":
        return _changed_set(frame, container, name, arguments, node)
    return _changed_list(frame, container, name, arguments, node) if isinstance(container, (Tuple, Sequence)) else None


def _changed_list(
    frame: Frame, container: Tuple | Sequence, name: str, arguments: Arguments, node: ast.AST
) -> Value | None:
    value = arguments.get(1 if name == "insert" else 0)
    grows = isinstance(container, Tuple) and not frame.repeats and len(container.items) < MAX_ITEMS
    if name in {"append", "appendleft", "insert", "add"} and value is not None:
        place: int | None = None
        if isinstance(container, Tuple) and grows:
            at = arguments.get(0)
            place = 0 if name == "appendleft" else len(container.items)
            if name == "insert":
                place = at.value if isinstance(at, Const) and isinstance(at.value, int) else None
        if isinstance(container, Tuple) and place is not None:
            return replace(container, items=(*container.items[:place], value, *container.items[place:]))
        return of_unknown_length(container, value)
    if name in {"extend", "extendleft", "update"} and value is not None:
        if isinstance(container, Tuple) and isinstance(value, Tuple) and grows:
            added = value.items[::-1] if name == "extendleft" else value.items
            items = (*added, *container.items) if name == "extendleft" else (*container.items, *added)
            return replace(container, items=items)
        return of_unknown_length(container, elements(frame, value, node))
    if name == "clear":
        return replace(container, items=()) if isinstance(container, Tuple) else _emptied(container)
    if not isinstance(container, Tuple):
        return container
    if name in {"pop", "popleft"}:
        return deleted(container, Const(0) if name == "popleft" else arguments.get(0) or Const(-1))
    if name in {"remove", "discard"}:
        return _without(container, value)
    if name == "reverse":
        return replace(container, items=container.items[::-1])
    if name == "sort" and container.items:
        return replace(container, items=(one_of(container.items),) * len(container.items))
    return container


def _emptied(container: Sequence) -> Value:
    return Tuple((), mutable=True) if container.type == "list" else container


def _without(container: Tuple, value: Value | None) -> Value:
    """A list after `remove`: without the first item that is equal."""
    plain = all(isinstance(item, Const) for item in (*container.items, value))
    if not plain:
        found = one_of(container.items)
        return replace(container, items=(found,) * (len(container.items) - 1)) if container.items else container
    items = list(container.items)
    place = next((n for n, item in enumerate(items) if isinstance(item, Const) and item == value), None)
    return container if place is None else deleted(container, Const(place))


def _changed_set(frame: Frame, container: Sequence, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0)
    if value is None or name not in {"add", "update"}:
        return container  # what it may hold is no more than before
    added = value if name == "add" else elements(frame, value, node)
    return Sequence(one_of((container.item, added)), container.type)


def _changed_dict(container: Dict, name: str, arguments: Arguments) -> Value:
    key = arguments.get(0)
    if name == "clear":
        return Dict()
    if name == "pop":
        return deleted(container, key)
    if name == "popitem":
        return deleted(container, None)
    if name == "setdefault":
        return _with_default(container, key, arguments.get(1) or NONE)
    if name != "update":
        return container
    found = container if key is None else _updated(container, key)
    for keyword, item in arguments.keywords.items():
        found = found.updated(keyword, item)
    return found


def _with_default(container: Dict, key: Value | None, default: Value) -> Value:
    if not isinstance(key, Const):
        return Dict(container.entries, default if container.rest is None else join((container.rest, default)))
    if container.get(key.value) is not None:
        return container
    return container.updated(key.value, default if container.rest is None else join((container.rest, default)))


def _updated(container: Dict, other: Value) -> Dict:
    """A dictionary after `update(other)`."""
    if isinstance(other, Dict):
        found = container if other.rest is None else _anywhere(container, other.rest)
        for key, value in other.entries:
            found = found.updated(key, value)
        return found
    pairs = other.items if isinstance(other, Tuple) else (None,)
    found = container
    for pair in pairs:
        if not (isinstance(pair, Tuple) and len(pair.items) == 2 and isinstance(pair.items[0], Const)):
            return _anywhere(container, UNKNOWN)
        found = found.updated(pair.items[0].value, pair.items[1])
    return found


def _anywhere(container: Dict, value: Value) -> Dict:
    """A dictionary in which a value may stand under any key."""
    return Dict(container.entries, value if container.rest is None else join((container.rest, value)))
