"""Operations on abstract values as a lattice: join, widening, order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

from exportlint.analysis.domain import dim as sizes
from exportlint.analysis.domain.allocations import blended, lost, merged_identity
from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.heap import EMPTY, HEAP, Heap, join_heaps
from exportlint.analysis.domain.interval import contains
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    BoundMethod,
    Composite,
    Const,
    Dict,
    Guard,
    Object,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    TypeOf,
    Union,
    Unknown,
    Value,
    retold,
)

MAX_OPTIONS = 4
"""A value with more alternatives than this is merged."""
MAX_PARTS = 12
"""An item of a container with more different modules than this is what they have in common."""
MAX_DEPTH = 4
"""The most levels of nested containers in a widened value."""


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: the parts of a Union, else the value itself."""
    return value.options if isinstance(value, Union) else (value,)


def join(values: Iterable[Value]) -> Value:
    """An upper bound of `values`. Different constants become an unknown Python value."""
    distinct = {id(value): value for value in values}.values()
    if len(distinct) == 1:
        (value,) = distinct
        if not isinstance(value, Union):
            return value
    found: dict[Value, Value] = {}
    for value in distinct:
        for option in options(value):
            known = found.setdefault(option, option)
            if known is not option and known.reaches != option.reaches:
                del found[option]
                option = blended(known, option)
                found[option] = option
    if len(found) == 1:
        return next(iter(found))
    constants = [v for v in found if isinstance(v, Const) and v.value is not None]
    if PYTHON in found or (len(constants) > 1 and not all(isinstance(v.value, bool) for v in constants)):
        for constant in constants:
            del found[constant]
        found.setdefault(PYTHON, PYTHON)
    if len(found) > MAX_OPTIONS:
        return merged(found)
    return union(found)


def union(found: Iterable[Value]) -> Value:
    """One of some values that differ."""
    kept = tuple(found)
    return UNKNOWN if not kept else kept[0] if len(kept) == 1 else Union(kept)


def one_of(parts: Iterable[Value]) -> Value:
    """One of the parts of a container: of modules more than `join` keeps apart, as models have many kinds of them."""
    distinct = dict.fromkeys(option for part in parts for option in options(part))
    if len(distinct) <= MAX_PARTS and all(isinstance(part, (Object, TorchModule, Unknown)) for part in distinct):
        return union(distinct)
    return join(distinct)


def merged(values: Iterable[Value]) -> Value:
    """One of many values: at most one of each sort is left, of which only what they have in common is known.

    Alternatives that cannot be merged become unknown, so a tensor next to them is only possibly a tensor.
    """
    sorts: dict[type, list[Value]] = {}
    for value in values:
        sort = type(None) if value == NONE else SORTS.get(type(value), type(value))
        sorts.setdefault(sort, []).append(value)
    found: dict[Value, None] = {}
    is_lost = False
    for sort, members in sorts.items():
        merge = MERGES.get(sort)
        value = members[0] if len(members) == 1 else merge(members) if merge is not None else UNKNOWN
        is_lost = is_lost or (value == UNKNOWN and UNKNOWN not in members)
        found[value] = None
    return union({_perhaps(value): None for value in found} if is_lost else found)


def widen(before: Value, after: Value) -> Value:
    """An upper bound of both that is reached after a few steps, however often `after` grows."""
    found = join((before, after))
    if before.reaches and not found.reaches <= before.reaches:
        found = lost(found, found.reaches - before.reaches, join)
    if found == before:
        return before if found.reaches == before.reaches else found
    return _with_widened_shapes(before, _absorbed(found, MAX_DEPTH))


def _with_widened_shapes(before: Value, found: Value) -> Value:
    """A value with shapes whose sizes no longer grow, as those of `out = torch.cat([out, x])` do."""
    kept = tuple([_widened_shapes(before, option) for option in options(found)])
    return found if kept == options(found) else union(dict.fromkeys(kept))


def _widened_shapes(before: Value, found: Value) -> Value:
    """The same for one alternative, from what is like it before."""
    known = next((option for option in options(before) if type(option) is type(found)), None)
    match known, found:
        case Tensor(), Tensor():
            return replace(found, shape=known.shape.widen(found.shape))
        case Tuple(), Tuple() if _is_alike(known, found):
            items = zip(known.items, found.items, strict=True)
            return replace(found, items=tuple([_with_widened_shapes(*pair) for pair in items]))
        case Sequence(), Sequence():
            return replace(found, item=_with_widened_shapes(known.item, found.item))
        case Dict(), Dict():
            entries = [(key, _with_widened_shapes(known.get(key) or UNKNOWN, item)) for key, item in found.entries]
            rest = found.rest and _with_widened_shapes(known.rest or UNKNOWN, found.rest)
            return replace(found, entries=tuple(entries), rest=rest)
    return found


def _absorbed(value: Value, depth: int) -> Value:
    """A value that is stable as it grows: unknown alternatives absorb all others except tensors and numbers.

    One alternative of each sort is left, in the parts as well. Below `depth`, everything is unknown.
    """
    found = options(merged(options(value)))
    if UNKNOWN in found:
        kept = [_perhaps(option) for option in found if isinstance(option, (Tensor, Scalar))]
        return union(dict.fromkeys([UNKNOWN, *kept]))
    parts = dict.fromkeys([_absorbed_parts(option, depth - 1) for option in found])
    return _absorbed(union(parts), depth) if UNKNOWN in parts and len(parts) > 1 else union(parts)


def _absorbed_parts(value: Value, depth: int) -> Value:
    if not isinstance(value, (Tuple, Sequence, Dict)):
        return value
    if depth < 0:
        return UNKNOWN
    if isinstance(value, Tuple):
        return replace(value, items=tuple([_absorbed(item, depth) for item in value.items]))
    if isinstance(value, Sequence):
        return replace(value, item=_absorbed(value.item, depth))
    rest = None if value.rest is None else _absorbed(value.rest, depth)
    return replace(value, entries=tuple([(key, _absorbed(item, depth)) for key, item in value.entries]), rest=rest)


def leq(value: Value, bound: Value) -> bool:
    """Whether `value` <= `bound`: `bound` includes everything that `value` may be, and claims nothing more about it.

    Unknown is the top: it includes everything and claims nothing.
    """
    bounds = options(bound)
    return UNKNOWN in bounds or all(
        option in bounds or any(_is_within(option, other) for other in bounds) for option in options(value)
    )


def _is_within(value: Value, bound: Value) -> bool:
    """`leq` of two values that are each one alternative."""
    match value, bound:
        case Tensor(), Tensor():
            return _is_tensor_within(value, bound)
        case Scalar(), Scalar():
            return (
                bound.kind in (None, value.kind)
                and bound.api in ("item", value.api)
                and bound.assumed >= value.assumed
                and bound.dim in (None, value.dim)
                and (bound.within is None or (value.within is not None and contains(bound.within, value.within)))
                and bound.apart <= value.apart
                and value.unbounded >= bound.unbounded
            )
        case Tuple(), Tuple() if _is_alike(value, bound):
            return all(map(leq, value.items, bound.items))
        case ((Tuple() | Sequence()), Sequence()):
            return bound.type in ("list", _type_of(value)) and all(leq(item, bound.item) for item in value.parts())
        case Dict(), Dict():
            return _is_dict_within(value, bound)
        case TorchModule(), TorchModule():
            if bound.items is None or bound.keys or bound.arguments:
                return value == bound
            return value.name == bound.name and value.items is not None and {*value.items} <= {*bound.items}
        case BoundMethod(), BoundMethod():
            return value.name == bound.name and leq(value.receiver, bound.receiver)
        case (Shape(), Shape()) if value.plain == bound.plain:
            return _is_within(value.tensor, bound.tensor)
        case (TypeOf(), TypeOf()) if (value.attribute, value.of_parameter) == (bound.attribute, bound.of_parameter):
            return _is_within(value.tensor, bound.tensor)
        case ((Scalar() | Size()), Size()) if value.dim is not None:
            return value.kind == bound.kind and sizes.leq(value.dim, bound.dim)
        case _, Python():
            return _is_within_python(value, bound)
    return value == bound


def _is_within_python(value: Value, bound: Python) -> bool:
    if isinstance(value, BoundMethod):
        return bound == PYTHON and leq(value.receiver, PYTHON)
    if isinstance(value, Python):
        name, affixes = value.type, value.affixes
    elif isinstance(value, Const):
        text = value.value if isinstance(value.value, str) else ""
        name, affixes = type(value.value).__name__, (text, text)
    elif isinstance(value, (Size, Guard, Baked)):
        name = value.kind if isinstance(value, Size) else value.type if isinstance(value, Baked) else "bool"
        affixes = ("", "")
    else:
        return bound == PYTHON and isinstance(value, TypeOf)
    begins, ends = bound.affixes
    return bound.type in (None, name) and affixes[0].startswith(begins) and affixes[1].endswith(ends)


def _is_tensor_within(value: Tensor, bound: Tensor) -> bool:
    return (
        bound.origin in (Origin.FRESH, value.origin)
        and bound.kind in (None, value.kind)
        and value.shape.leq(bound.shape)
        and bound.known >= value.known
        and bound.literal >= value.literal
        and bound.constant >= value.constant
        and bound.assumed >= value.assumed
        and bound.optional >= value.optional
        and bound.data in (None, value.data)
        and value.detached >= bound.detached
        and bound.region in (0, value.region)
        and bound.form in (None, value.form)
        and value.depends_on_input >= bound.depends_on_input
        and value.untraced_backward >= bound.untraced_backward
        and value.requires_grad >= bound.requires_grad
        and value.unplaced >= bound.unplaced
    )


def _is_dict_within(value: Dict, bound: Dict) -> bool:
    known = {(type(key), key) for key, _ in bound.entries}
    others = [v for k, v in value.entries if (type(k), k) not in known]
    if value.rest is not None:
        others.append(value.rest)
    found = [(value.get(key), item) for key, item in bound.entries]
    return all(mine is not None and leq(mine, item) for mine, item in found) and all(
        bound.rest is not None and leq(other, bound.rest) for other in others
    )


def _type_of(sequence: Tuple | Sequence) -> str:
    if isinstance(sequence, Sequence):
        return sequence.type
    return sequence.lazy or ("list" if sequence.mutable else "tuple")


def _perhaps(value: Value) -> Value:
    return replace(value, assumed=True) if isinstance(value, (Tensor, Scalar)) else value


def _same(values: Iterable[T], otherwise: T) -> T:
    found = set(values)
    return found.pop() if len(found) == 1 else otherwise


def _merged_tensors(tensors: list[Tensor]) -> Tensor:
    return Tensor(
        _same((t.origin for t in tensors), Origin.FRESH),
        _same((t.kind for t in tensors), None),
        reduce(TensorShape.join, [t.shape for t in tensors]),
        known=any(t.known for t in tensors),
        literal=any(t.literal for t in tensors),
        constant=any(t.constant for t in tensors),
        requires_grad=all(t.requires_grad for t in tensors),
        unplaced=all(t.unplaced for t in tensors),
        assumed=any(t.assumed for t in tensors),
        optional=any(t.optional for t in tensors),
        data=_same((t.data for t in tensors), None),
        detached=all(t.detached for t in tensors),
        region=_same((t.region for t in tensors), 0),
        form=_same((t.form for t in tensors), None),
        depends_on_input=all(t.depends_on_input for t in tensors),
        untraced_backward=all(t.untraced_backward for t in tensors),
        dtype=_same((t.dtype for t in tensors), None),
        buffer=_same((t.buffer for t in tensors), None),
        joined=frozenset.intersection(*[t.joined for t in tensors]),
        created_at=_same((t.created_at for t in tensors), None),
        name=_same((t.name for t in tensors), ""),
        trail=tensors[0].trail,
    )


def _merged_numbers(numbers: list[Scalar]) -> Scalar:
    return Scalar(
        _same((n.kind for n in numbers), None),
        _same((n.api for n in numbers), "item"),
        any(n.assumed for n in numbers),
        numbers[0].trail,
        unbounded=all(n.unbounded for n in numbers),
    )


def _merged_sequences(sequences: list[Tuple | Sequence]) -> Value:
    first = sequences[0]
    if isinstance(first, Tuple) and all(isinstance(s, Tuple) and _is_alike(s, first) for s in sequences):
        columns = zip(*(s.items for s in sequences if isinstance(s, Tuple)), strict=True)
        return replace(first, items=tuple([join(column) for column in columns]), identity=merged_identity(sequences))
    items = [item for s in sequences for item in (s.items if isinstance(s, Tuple) else (s.item,))]
    return Sequence(join(items), _same(map(_type_of, sequences), "list"), merged_identity(sequences))


def _is_alike(one: Tuple, other: Tuple) -> bool:
    return len(one.items) == len(other.items) and (one.mutable, one.fields, one.lazy) == (
        other.mutable,
        other.fields,
        other.lazy,
    )


def _merged_dicts(dicts: list[Dict]) -> Value:
    orders = {tuple([k for k, _ in d.entries if all(other.get(k) is not None for other in dicts)]) for d in dicts}
    keys = max(orders, key=repr)
    entries = tuple((k, join([v for d in dicts if (v := d.get(k)) is not None])) for k in keys)
    known = {(type(k), k) for k in keys}
    rest = [v for d in dicts for v in (*(v for k, v in d.entries if (type(k), k) not in known), d.rest) if v]
    return Dict(entries, join(rest) if rest else None, merged_identity(dicts))


def _merged_modules(modules: list[TorchModule]) -> Value:
    """Containers of modules that grow in a loop: which of the modules stands where is not known any more."""
    if any(m.items is None for m in modules) or len({m.name for m in modules}) > 1:
        return UNKNOWN
    items = dict.fromkeys(item for m in modules for item in m.items or ())
    return TorchModule(modules[0].name, tuple(items))


T = TypeVar("T")
SORTS: dict[type[Value], type[Value]] = {Tuple: Sequence, Const: Python, Size: Python, Guard: Python, Baked: Python}
MERGES: dict[type, Callable[[list[Any]], Value]] = {
    Tensor: _merged_tensors,
    Scalar: _merged_numbers,
    Sequence: _merged_sequences,
    Dict: _merged_dicts,
    TorchModule: _merged_modules,
    Python: lambda _: PYTHON,
}


def each(value: Value, function: Callable[[Value], Value]) -> Value:
    """The join of the results of a function for each alternative of a value."""
    if isinstance(value, Union):
        return join([function(option) for option in value.options])
    return function(value)


def tensors_in(value: Value, depth: int = 3) -> Iterable[Tensor]:
    """The tensors that a value is or contains."""
    for option in options(value):
        if isinstance(option, Tensor):
            yield option
        elif depth and isinstance(option, Tuple):
            for item in option.items:
                yield from tensors_in(item, depth - 1)
        elif depth and isinstance(option, Sequence):
            yield from tensors_in(option.item, depth - 1)
        elif depth and isinstance(option, Dict):
            for _, item in option.entries:
                yield from tensors_in(item, depth - 1)
            if option.rest is not None:
                yield from tensors_in(option.rest, depth - 1)


def trails_in(value: Value) -> Iterator[Trail | None]:
    """The trails of a value and its parts, in the same order for equal values."""
    for option in options(value):
        if isinstance(option, (Tensor, Scalar, Size, Guard, Baked)):
            yield option.trail
        elif isinstance(option, Shape):
            yield option.tensor.trail
        elif isinstance(option, Composite):
            for part in option.parts():
                yield from trails_in(part)


def with_trail(value: Value, trail: Trail) -> Value:
    """The same value with another trail. Values that findings never explain have none."""
    if isinstance(value, (Tensor, Scalar, Size, Guard, Baked)):
        return retold(value, trail)
    if isinstance(value, Sequence) and isinstance(value.item, Scalar):
        return value.alike(value.identity, item=retold(value.item, trail))
    if isinstance(value, Union):
        return value.alike(options=tuple([with_trail(option, trail) for option in value.options]))
    return value


def trail_of(value: Value) -> Trail | None:
    """The trail of the value, None if it has none."""
    for option in value.options if isinstance(value, Union) else (value,):
        if isinstance(option, (Tensor, Scalar, Size, Guard, Baked)) and option.trail is not None:
            return option.trail
        if isinstance(option, Shape):
            return option.tensor.trail
        if isinstance(option, Sequence) and isinstance(option.item, Scalar):
            return option.item.trail
    return None


def join_environments(environments: Iterable[Mapping[str, Value] | None]) -> dict[str, Value] | None:
    """The variables after several branches meet. None stands for a branch that is never taken."""
    live = [e for e in environments if e is not None]
    if not live:
        return None
    first, *others = live
    joined = _without_paths(first, others)
    for other in others:
        for name, value in other.items():
            mine = joined.get(name)
            if mine is value:
                continue
            if mine is None:
                if "." not in name or name[-1] == ">":  # no path of an attribute
                    joined[name] = value
            elif name != HEAP and (mine != value or mine.reaches != value.reaches):
                joined[name] = join((mine, value))
    if HEAP in joined:
        joined[HEAP] = join_heaps([(heap_of(env), env) for env in live], join)
    return joined


def _without_paths(environment: Mapping[str, Value], others: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    """The variables without those attribute paths that are missing in `others`: the object has their values."""
    found = dict(environment)
    for other in others:
        for name in environment.keys() - other.keys():
            if "." in name and name[-1] != ">":
                found.pop(name, None)
    return found


def heap_of(environment: Mapping[str, Value]) -> Heap:
    """The heap that belongs to the variables of a call."""
    found = environment.get(HEAP, EMPTY)
    assert isinstance(found, Heap)
    return found


def widen_environments(before: Mapping[str, Value], after: Mapping[str, Value]) -> dict[str, Value]:
    """An upper bound of the variables after any number of passes of a loop."""
    found = _without_paths(before, (after,))
    for name, value in after.items():
        known = before.get(name)
        if name == HEAP:
            found[name] = join_heaps(
                [(heap_of(before), before), (heap_of(after), after)], lambda values: widen(*values)
            )
        else:
            found[name] = value if known is None or known is value else widen(known, value)
    return found
