"""What lists, dictionaries and sets contain once code has changed them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from exportlint.analysis.domain.allocations import is_mutable
from exportlint.analysis.domain.lattice import join, leq, options
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    Python,
    Sequence,
    Tuple,
    Value,
)
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
    if isinstance(container, Sequence) and all(leq(value, container.item) for value in added):
        return container
    held = container.items if isinstance(container, Tuple) else (container.item,)
    return Sequence(one_of((*held, *added)), container.type if isinstance(container, Sequence) else "list")


def position(container: Tuple, key: Value | None) -> int | None:
    """The place of the item that a key surely names."""
    if not isinstance(key, Const) or not isinstance(key.value, int):
        return None
    count = len(container.items)
    return key.value % count if -count <= key.value < count else None


def stored(container: Value, key: Value, value: Value) -> Value:
    """A container after `container[key] = value`."""
    if isinstance(container, Dict):
        return container.updated(key.value, value) if isinstance(key, Const) else entered(container, key, value)
    if isinstance(container, Tuple) and container.items:
        place = position(container, key)
        if place is not None:
            return replace(container, items=(*container.items[:place], value, *container.items[place + 1 :]))
        return replace(container, items=tuple([join((item, value)) for item in container.items]))
    if isinstance(container, Sequence):
        return Sequence(join((container.item, value)), container.type)
    return container


def stored_slice(frame: Frame, container: Value, bounds: slice | None, value: Value, node: ast.AST) -> Value:
    """A container after `container[…:…] = value`; `bounds` None are such of which nothing is known."""
    if not isinstance(container, (Tuple, Sequence)):
        return container
    if bounds == slice(None):
        return _listed(frame, value, node)
    if isinstance(value, Tuple) and isinstance(container, Tuple) and bounds is not None and not frame.repeats:
        items = list(container.items)
        try:
            items[bounds] = value.items
        except ValueError:  # an extended slice of another length
            return container
        return replace(container, items=tuple(items))
    return of_unknown_length(container, *_added(frame, value, node))


def _listed(frame: Frame, value: Value, node: ast.AST) -> Value:
    """The list that has the elements of a value."""
    if isinstance(value, Tuple):
        return Tuple(value.items, mutable=True)
    return Sequence(elements(frame, value, node))


def deleted(container: Value, key: Value | slice | None) -> Value:
    """A container after `del container[key]`; None is a key of which nothing is known."""
    if isinstance(container, Tuple):
        items = list(container.items)
        if isinstance(key, slice):
            del items[key]
            return replace(container, items=tuple(items))
        place = position(container, key)
        if place is None:
            return of_unknown_length(container)
        del items[place]
        return replace(container, items=tuple(items))
    if not isinstance(container, Dict):
        return container
    if isinstance(key, Const):
        if container.get(key.value) is None:
            return container
        return replace(container, entries=tuple([entry for entry in container.entries if not _is(entry[0], key)]))
    lost = [(name, value) for name, value in container.entries if isinstance(key, slice) or _may_be(name, key)]
    if not lost:
        return container
    kept = tuple([entry for entry in container.entries if entry not in lost])
    rest = [value for _, value in lost]
    return Dict(kept, one_of(rest if container.rest is None else (*rest, container.rest)))


def _is(key: object, const: Const) -> bool:
    return bool(key == const.value) and type(key) is type(const.value)


def _may_be(name: object, key: Value | None) -> bool:
    """Whether a key of which not all is known can be a certain one."""
    for option in options(UNKNOWN if key is None else key):
        if isinstance(option, (Const, Python)):
            if leq(Const(name), option):
                return True
        elif not isinstance(name, str) or option == UNKNOWN:
            return True
    return False


def entered(container: Dict, key: Value, value: Value) -> Dict:
    """A dictionary in which a value stands under a key of which not all is known."""
    known = tuple([(name, join((held, value)) if _may_be(name, key) else held) for name, held in container.entries])
    return Dict(known, value if container.rest is None else join((container.rest, value)))


def merged_dicts(container: Dict, other: Dict) -> Dict:
    """`{**container, **other}`."""
    if not other.entries and other.rest is None:
        return container
    if not container.entries and container.rest is None:
        return Dict(other.entries, other.rest)
    found = container if other.rest is None else entered(container, UNKNOWN, other.rest)
    return Dict(tuple({**dict(found.entries), **dict(other.entries)}.items()), found.rest)


def changed_by(frame: Frame, container: Value, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
    """What a container is after a method that changes it; None for what is not a container."""
    if isinstance(container, Dict):
        return _changed_dict(container, name, arguments)
    if isinstance(container, Sequence) and container.type == "set":
        return _changed_set(frame, container, name, arguments, node)
    if isinstance(container, (Tuple, Sequence)) and (is_mutable(container) or not isinstance(container, Tuple)):
        return _changed_list(frame, container, name, arguments, node)
    return None


def _changed_list(
    frame: Frame, container: Tuple | Sequence, name: str, arguments: Arguments, node: ast.AST
) -> Value | None:
    value = arguments.get(1 if name == "insert" else 0)
    if name in {"append", "appendleft", "insert", "add"} and value is not None:
        place = _place(container, name, arguments)
        if isinstance(container, Tuple) and place is not None and _grows(frame, container, 1):
            return replace(container, items=(*container.items[:place], value, *container.items[place:]))
        return of_unknown_length(container, value)
    if name in {"extend", "extendleft", "update"} and value is not None:
        if isinstance(container, Tuple) and isinstance(value, Tuple) and _grows(frame, container, len(value.items)):
            is_left = name == "extendleft"
            items = (*value.items[::-1], *container.items) if is_left else (*container.items, *value.items)
            return replace(container, items=items)
        return of_unknown_length(container, *_added(frame, value, node))
    if name == "clear":
        is_list = isinstance(container, Tuple) or container.type == "list"
        return Tuple((), mutable=True) if is_list else container
    if not isinstance(container, Tuple):
        return container
    if name in {"pop", "popleft"}:
        return deleted(container, Const(0) if name == "popleft" else arguments.get(0) or Const(-1))
    if name == "remove":
        return _removed(container, value)
    if name == "reverse":
        return replace(container, items=container.items[::-1])
    if name == "sort" and container.items:
        return replace(container, items=(one_of(container.items),) * len(container.items))
    return container


def _grows(frame: Frame, container: Tuple, count: int) -> bool:
    """Whether the items of a list are still told apart when it gets some more."""
    return not frame.repeats and len(container.items) + count <= MAX_ITEMS


def _place(container: Tuple | Sequence, name: str, arguments: Arguments) -> int | None:
    """Where an item is put in."""
    if name == "insert":
        at = arguments.get(0)
        return at.value if isinstance(at, Const) and isinstance(at.value, int) else None
    return len(container.items) if isinstance(container, Tuple) and name != "appendleft" else 0


def _added(frame: Frame, value: Value, node: ast.AST) -> tuple[Value, ...]:
    """What a list can get when the elements of a value are put in."""
    return value.items if isinstance(value, Tuple) else (elements(frame, value, node),)


def _removed(container: Tuple, value: Value | None) -> Value:
    """A list after `remove`: without the first item that is equal."""
    items = container.items
    if not items:
        return container
    if all(isinstance(item, Const) for item in (*items, value)):
        place = next((n for n, item in enumerate(items) if isinstance(item, Const) and item == value), None)
        return container if place is None else deleted(container, Const(place))
    return replace(container, items=tuple(map(lambda *both: one_of(both), items[:-1], items[1:])))


def _changed_set(frame: Frame, container: Sequence, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name not in {"add", "update", "symmetric_difference_update"}:
        return container  # what it may hold is no more than before
    added = arguments.positional if name == "add" else [v for g in arguments.positional for v in _added(frame, g, node)]
    if all(leq(value, container.item) for value in added):
        return container
    return Sequence(one_of((container.item, *added)), container.type)


def _changed_dict(container: Dict, name: str, arguments: Arguments) -> Value:
    key = arguments.get(0)
    if name == "clear":
        return Dict()
    if name == "pop" and key is not None:
        return deleted(container, key)
    if name == "popitem":
        return deleted(container, None)
    if name == "setdefault" and key is not None:
        return _with_default(container, key, arguments.get(1) or NONE)
    if name != "update":
        return container
    found = container if key is None else updated_by(container, key)
    given = Dict(tuple(arguments.keywords.items()))
    return merged_dicts(found, given) if given.entries else found


def _with_default(container: Dict, key: Value, default: Value) -> Value:
    rest = default if container.rest is None else join((container.rest, default))
    if not isinstance(key, Const):
        return Dict(container.entries, rest)
    return container if container.get(key.value) is not None else container.updated(key.value, rest)


def updated_by(container: Dict, other: Value) -> Dict:
    """A dictionary after `update(other)`."""
    if isinstance(other, Dict):
        return merged_dicts(container, other)
    pairs = other.items if isinstance(other, Tuple) else (other,)
    found = container
    for pair in pairs:
        if not (isinstance(pair, Tuple) and len(pair.items) == 2):
            return entered(container, UNKNOWN, UNKNOWN)
        key, value = pair.items
        changed = stored(found, key, value)
        assert isinstance(changed, Dict)
        found = changed
    return found
